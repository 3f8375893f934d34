// Shared with preflight: KEP-4033's question to the runtime.
import type { RuntimeAnswer } from '../../ports/bootstrap.js'
import { type Check, ok, skipped, warn } from '../check.js'

export const runtimeConfig: Check<{ readonly runtime: RuntimeAnswer | undefined }> = {
  name: 'runtime-config',
  asks: 'Does the runtime report its cgroup driver?',
  run({ runtime }) {
    if (runtime === undefined) return skipped('no runtime responded')
    return runtime.runtimeConfig === 'unimplemented'
      ? warn(
          `${runtime.name} ${runtime.version} does not implement RuntimeConfig`,
          'upgrade the runtime, put keelson cri in front of it, or set cgroupDriver yourself',
          ['RuntimeConfig: UNIMPLEMENTED'],
        )
      : ok(`RuntimeConfig: ${runtime.runtimeConfig}`)
  },
}
