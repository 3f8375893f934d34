// node-local-cri-socket: each case through the real command on a temporary root, with listening sockets and a
// cluster in memory. Named pipes have a stub listener: this system has none.

import { fieldsAt, inputWithDefaults, isFields, type Suite } from '../../types.js'
import { act } from './act.js'
import { arrange } from './arrange.js'
import { compareError, compareSuccess } from './compare.js'

export const nodeLocalCriSocket: Suite = {
  suite: 'node-local-cri-socket',
  async run(vector, file) {
    const input = inputWithDefaults(vector, file)
    const base = file.baseKubeletConfiguration
    if (!isFields(base)) throw new Error('the file has no baseKubeletConfiguration')
    const expected = fieldsAt(vector, 'expected')
    const scene = await arrange(input, base)
    try {
      const result = await act(scene, input)
      return expected.outcome === 'error'
        ? await compareError(scene, expected, result)
        : await compareSuccess(scene, expected, result)
    } finally {
      await scene.close()
    }
  },
}
