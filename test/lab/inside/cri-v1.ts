// containerd over our client on a cgroup v1 host: the same life of a pod, and `unified` refused in containerd's words.
import assert from 'node:assert/strict'
import type { Check } from '../../support/check.js'
import { before, client, podChecks, rejection, runningPod, serverCommand, state } from './cri-common.js'
import { createContainer, MiB, podSandboxConfig, removePod, runPod } from './pod.js'

const parent = '/kubepods/burstable/podlab1'
const refused = /cannot use unified on cgroup v1/

export const checks: readonly Check[] = [
  ...before,
  {
    name: 'RunPodSandbox, CreateContainer and StartContainer without unified values',
    async run() {
      state.pod = await runPod(client(), {
        name: 'v1',
        cgroupParent: parent,
        command: serverCommand,
        resources: { memoryLimitInBytes: BigInt(128 * MiB), cpuShares: 512n },
      })
      const { status } = await client().runtime.containerStatus({ containerId: runningPod().containerId })
      assert.equal(status?.state, 1)
    },
  },
  {
    name: 'a container with unified values is refused with containerd’s own error',
    async run() {
      const options = {
        name: 'v1-unified',
        cgroupParent: '/kubepods/burstable/podlab2',
        resources: { unified: { 'memory.high': String(96 * MiB) } },
      }
      const config = await podSandboxConfig(options)
      const { podSandboxId: sandboxId } = await client().runtime.runPodSandbox({ config })
      const { code, message } = await rejection(
        createContainer(client(), sandboxId, config, options).then((containerId) =>
          client().runtime.startContainer({ containerId }),
        ),
      )
      await removePod(client(), { sandboxId })
      assert.equal(code, 'runtime.failed')
      assert.match(message, refused)
    },
  },
  {
    name: 'an update with unified values is refused with containerd’s own error',
    async run() {
      const { containerId } = runningPod()
      const linux = { unified: { 'memory.high': String(96 * MiB) } }
      const { message } = await rejection(client().runtime.updateContainerResources({ containerId, linux }))
      assert.match(message, refused)
    },
  },
  ...podChecks,
]
