// The shape of one RPC that we complete or answer. A method is one unit in this folder and one line in index.ts.
import type { MessageFns } from '../../cri-api/api.js'
import type { CallEnding, ServerCall } from '../../ports/cri-calls.js'
import type { Services } from '../services.js'

export interface CriMethod {
  readonly path: string
  /** A server stream: its answer is not held whole. */
  readonly streams?: boolean
  run(call: ServerCall, services: Services): Promise<CallEnding>
  /** Names of what the runtime's message lacks, for observe mode. */
  missingFields?(message: Uint8Array): readonly string[]
}

export const runtimePath = (rpc: string): string => `/runtime.v1.RuntimeService/${rpc}`
export const imagePath = (rpc: string): string => `/runtime.v1.ImageService/${rpc}`

/** Undefined: these bytes are no such message. The peer may see that differently, so they are forwarded. */
export function tryDecode<T>(
  fns: Pick<MessageFns<T>, 'decode'>,
  bytes: Uint8Array | undefined,
): T | undefined {
  if (bytes === undefined) return undefined
  try {
    return fns.decode(bytes)
  } catch {
    return undefined
  }
}
