// Whether an error only says that the runtime is unreachable at the moment: not a fault of the pod, and soon over.
import type { KeelsonError } from '../../../core/errors.js'

/** containerd listens before its CRI part has read what runs, and answers UNKNOWN until then. */
const startingUp = /server is not initialized yet/

export const isRuntimeUnreachable = ({ code, details }: KeelsonError): boolean =>
  code === 'runtime.unavailable' ||
  code === 'runtime.cancelled' ||
  (typeof details['grpcMessage'] === 'string' && startingUp.test(details['grpcMessage']))
