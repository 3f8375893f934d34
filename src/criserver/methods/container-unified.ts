// CreateContainer, StartContainer, UpdateContainerResources and RemoveContainer: forwarded. Their `unified` values are
// remembered, and written for runtimes that drop them.
import {
  CreateContainerRequest,
  CreateContainerResponse,
  type LinuxContainerResources,
  RemoveContainerRequest,
  StartContainerRequest,
  UpdateContainerResourcesRequest,
} from '../../cri-api/api.js'
import { type CriMethod, runtimePath, tryDecode } from './method.js'

export const createContainer: CriMethod = {
  path: runtimePath('CreateContainer'),
  async run(call, { unified }) {
    const request = tryDecode(CreateContainerRequest, await call.readMessage())
    const wanted = request?.config?.linux?.resources?.unified ?? {}
    const answer = await call.ask()
    const created = tryDecode(CreateContainerResponse, answer.message)
    if (created !== undefined && Object.keys(wanted).length > 0) {
      unified.remember(created.containerId, wanted)
      await unified.enforce(created.containerId)
    }
    return await call.relay(answer)
  },
}

/** containerd makes the cgroup only now. */
export const startContainer: CriMethod = {
  path: runtimePath('StartContainer'),
  async run(call, { unified }) {
    const { containerId = '' } = tryDecode(StartContainerRequest, await call.readMessage()) ?? {}
    const answer = await call.ask().catch((e: unknown) => {
      if (unified.isKnown(containerId)) void unified.enforceLater(containerId)
      throw e
    })
    if (answer.message !== undefined && unified.isKnown(containerId)) await unified.enforce(containerId)
    return await call.relay(answer)
  },
}

export const removeContainer: CriMethod = {
  path: runtimePath('RemoveContainer'),
  async run(call, { unified }) {
    const { containerId = '' } = tryDecode(RemoveContainerRequest, await call.readMessage()) ?? {}
    const answer = await call.ask()
    if (answer.message !== undefined) unified.forget(containerId)
    return await call.relay(answer)
  },
}

/** Which fields of an update set which files. Zero means "leave as it is" throughout CRI. */
const setters: readonly (readonly [file: RegExp, isSet: (r: LinuxContainerResources) => boolean])[] = [
  [/^memory\.(swap\.)?max$/, (r) => r.memoryLimitInBytes !== 0n || r.memorySwapLimitInBytes !== 0n],
  [/^cpu\.(weight|idle)/, (r) => r.cpuShares !== 0n],
  [/^cpu\.max/, (r) => r.cpuQuota !== 0n || r.cpuPeriod !== 0n],
  [/^cpuset\.cpus/, (r) => r.cpusetCpus !== ''],
  [/^cpuset\.mems/, (r) => r.cpusetMems !== ''],
  [/^hugetlb\./, (r) => r.hugepageLimits.length > 0],
]

const isSetBy = (linux: LinuxContainerResources | undefined, file: string): boolean =>
  linux !== undefined && setters.some(([files, isSet]) => files.test(file) && isSet(linux))

/** Values that the update does not name stay what they were. */
export const updateContainerResources: CriMethod = {
  path: runtimePath('UpdateContainerResources'),
  async run(call, { unified }) {
    const request = tryDecode(UpdateContainerResourcesRequest, await call.readMessage())
    if (request === undefined) return await call.relay(await call.ask())
    const { containerId, linux } = request
    const named = linux?.unified ?? {}
    const before = await unified.snapshot(containerId, call.signal)
    const answer = await call.ask()
    if (answer.message !== undefined) {
      unified.remember(containerId, named)
      const kept = Object.entries(before).filter(([file]) => !isSetBy(linux, file))
      const wanted = { ...Object.fromEntries(kept), ...named }
      await unified.restore(containerId, wanted)
    }
    return await call.relay(answer)
  },
}
