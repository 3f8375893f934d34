// Reads what was laid out, with the collectors that the product uses.
import { CgroupFsTree } from '../../../../src/adapters/cgroups/tree.js'
import { createProcfs } from '../../../../src/adapters/procfs/procfs.js'
import type { Emit, Family } from '../../../../src/stats/catalogue/family.js'
import { networkUsage, readCgroup, usageFrom } from '../../../../src/stats/cgroup/container-stats.js'
import { createDevices } from '../../../../src/stats/collectors/device.js'
import { createHugePageSizes } from '../../../../src/stats/collectors/hugetlb.js'
import { emitCgroup } from '../../../../src/stats/collectors/index.js'
import { emitNetwork, networkValues } from '../../../../src/stats/collectors/network.js'
import { criValue, formatDecimal } from '../../../../src/stats/render/exposition.js'
import type { NetworkUsage, Usage } from '../../../../src/stats/usage.js'
import { type Fields, fieldsAt, isFields, textAt } from '../../types.js'
import type { LaidOut } from './lay-out.js'

export interface Series {
  readonly name: string
  readonly type: string
  readonly extraLabels: Readonly<Record<string, string>>
  readonly exact: string
  readonly criValue: string
}

export interface ReadSnapshot {
  readonly usage: Usage
  readonly timeNanos: bigint
  readonly processCount: bigint | undefined
  readonly metrics: readonly Series[]
  readonly podNetwork: NetworkUsage | undefined
  readonly podMetrics: readonly Series[]
}

function collect(emitAll: (emit: Emit) => void): Series[] {
  const series: Series[] = []
  emitAll((family: Family, value, extra) =>
    series.push({
      name: family.name,
      type: family.type,
      extraLabels: Object.fromEntries(extra?.pairs ?? []),
      exact: formatDecimal(value, family.decimals),
      criValue: criValue(value, family.decimals).toString(),
    }),
  )
  return series
}

function previousOf(snapshot: Fields) {
  if (!isFields(snapshot.previousSample)) return undefined
  const previous = fieldsAt(snapshot, 'previousSample')
  return {
    timeNanos: BigInt(textAt(previous, 'timestamp')),
    usageNanos: BigInt(textAt(previous, 'usageCoreNanoSeconds')),
  }
}

export function readSnapshot(snapshot: Fields, { hierarchy, path, proc, networkPid }: LaidOut): ReadSnapshot {
  const cgroups = new CgroupFsTree(hierarchy)
  const procfs = createProcfs({ proc })
  const names = isFields(snapshot.devices) ? snapshot.devices : {}
  const timeNanos = BigInt(textAt(snapshot, 'sampleTimeNs'))
  try {
    const device = createDevices((numbers) => {
      const name = names[numbers]
      return typeof name === 'string' ? name : undefined
    })
    const context = { cgroups, procfs, device, hugePageSizes: createHugePageSizes({ cgroups }) }
    const values = readCgroup(path, 'container', context, () => timeNanos)
    if (values === undefined) throw new Error('nothing could be read')
    const interfaces = procfs.netDev(networkPid)
    const network = interfaces === undefined ? undefined : networkValues(interfaces)
    return {
      usage: usageFrom(values, previousOf(snapshot)),
      timeNanos,
      processCount: values.processes === undefined ? undefined : BigInt(values.processes.pids.length),
      metrics: collect((emit) => emitCgroup(values, emit)),
      podNetwork: network === undefined ? undefined : networkUsage(network, timeNanos),
      podMetrics: network === undefined ? [] : collect((emit) => emitNetwork(network, emit)),
    }
  } finally {
    cgroups.close()
  }
}
