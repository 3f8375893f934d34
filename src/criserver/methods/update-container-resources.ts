// UpdateContainerResources: forwarded; values of `unified` that the runtime drops are written, and those that the update
// does not name stay what they were.
import { type LinuxContainerResources, UpdateContainerResourcesRequest } from '../../cri-api/api.js'
import { tryDecode } from '../wire.js'
import { type CriMethod, runtimePath } from './method.js'

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
