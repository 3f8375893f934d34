// KEP-4033 against a real runtime that answers RuntimeConfig.
import type { Unit } from '../unit.js'

export const driver: Unit = {
  name: 'driver',
  summary: 'containerd 2.x tells its cgroup driver, and its sandboxes prove it (KEP-4033)',
  peers: ['containerd', 'containerd-shim-runc-v2', 'ctr'],
  async run() {},
}
