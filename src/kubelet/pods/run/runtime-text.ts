// What the runtime said, without our own words around it: for statuses and events, which other tools read and compare.
import type { KeelsonError } from '../../../core/errors.js'

/** The runtime's message alone; the whole text of an error that did not come from it. */
export const runtimeText = ({ details, message }: KeelsonError): string =>
  typeof details.grpcMessage === 'string' && details.grpcMessage !== '' ? details.grpcMessage : message

/** As Go prints a gRPC error: `rpc error: code = NotFound desc = no such image`. */
export function rpcErrorText(error: KeelsonError): string {
  const { grpcCode } = error.details
  if (typeof grpcCode !== 'string') return error.message
  const code = grpcCode.replace(
    /([A-Z])([A-Z]*)_?/g,
    (_, first: string, rest: string) => first + rest.toLowerCase(),
  )
  return `rpc error: code = ${code} desc = ${runtimeText(error)}`
}
