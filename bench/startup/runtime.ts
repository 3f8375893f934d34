// The runtime that the least kubelet asks, in a process of its own: `tsx runtime.ts SOCKET`.
import { startFakeRuntime } from '../../src/fakes/cri/fake-runtime.js'

await startFakeRuntime(
  {
    Version: { value: { runtimeName: 'containerd', runtimeVersion: '1.6.20', runtimeApiVersion: 'v1' } },
    RuntimeConfig: { value: { linux: { cgroupDriver: 0 } } },
  },
  { socketPath: process.argv[2] ?? '' },
)
console.log('ready')
