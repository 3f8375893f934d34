// Error codes to the exit status of a command: bad input ends in 2, everything else that fails in 1. A runtime's endpoint
// that cannot be one is bad input, too, and so is a kubeconfig.
import type { ErrorCode } from '../core/errors.js'

export const exitStatus = (code: ErrorCode): number =>
  code === 'runtime.endpoint' ||
  code === 'kubeapi.kubeconfig' ||
  /^(usage|input|yaml|quantity|cgroup-name|pod|config|version)\./.test(code)
    ? 2
    : 1
