// node-local-cri-socket: each case through the real command on a temporary root, with listening sockets and a
// cluster in memory. Named pipes have a stub listener: this system has none.

import { type Fields, fieldsAt, inputWithDefaults, isFields, type Suite } from '../../types.js'
import { act } from './act.js'
import { arrange } from './arrange.js'
import { compareError, compareSuccess } from './compare.js'

const usual: Fields = {
  os: 'linux',
  gate: null,
  criSocketConfig: null,
  criSocketFlag: null,
  listening: ['unix:///var/run/containerd/containerd.sock'],
  cluster: null,
  files: {},
  patches: null,
  annotation: null,
  extraArgs: [],
  dryRun: false,
  userKubeletConfig: null,
}

const usualBase: Fields = {
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  cgroupDriver: 'systemd',
  clusterDomain: 'cluster.local',
  containerRuntimeEndpoint: '',
}

export const nodeLocalCriSocket: Suite = {
  suite: 'node-local-cri-socket',
  async run(vector, file) {
    const input = inputWithDefaults(vector, file, usual)
    const base = isFields(file.baseKubeletConfiguration) ? file.baseKubeletConfiguration : usualBase
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
