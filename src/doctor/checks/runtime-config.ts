// Shared with preflight: KEP-4033's question to the runtime.
import type { RuntimeAnswer } from '../../ports/bootstrap.js'
import { type Check, ok, skipped, warn } from '../check.js'

export const runtimeConfig: Check<{ readonly runtime: RuntimeAnswer | undefined }> = {
  name: 'runtime-config',
  asks: 'Does the runtime tell its cgroup driver?',
  run({ runtime }) {
    if (runtime === undefined) return skipped('no runtime answered')
    return runtime.runtimeConfig === 'unimplemented'
      ? warn(
          `${runtime.name} ${runtime.version} does not know RuntimeConfig`,
          'set cgroupDriver by hand, upgrade the runtime, or put keelson cri in front of it',
          ['RuntimeConfig: UNIMPLEMENTED'],
        )
      : ok(`RuntimeConfig: ${runtime.runtimeConfig}`)
  },
}
