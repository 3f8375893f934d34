// Error codes to the exit status of a command: bad input ends in 2, everything else that fails in 1.
import type { ErrorCode } from '../core/errors.js'

export const exitStatus = (code: ErrorCode): number =>
  /^(usage|input|yaml|quantity|cgroup-name|pod|config|version)\./.test(code) ? 2 : 1
