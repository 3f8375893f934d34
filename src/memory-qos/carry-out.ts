// Carries out one step of a pass: a cgroup through the tree, a container through its runtime. Both roads may re-apply more
// than what was asked for (systemd its stored properties, a runtime its whole record), so values of others are put back.
import { readControlText } from '../core/cgroup/control-file.js'
import { keelsonError } from '../core/errors.js'
import { isSettled } from '../core/kernel-text/read-back.js'
import { isMemoryFile } from '../core/memory-qos/unified.js'
import type { CgroupPath, CgroupTree } from '../ports/cgroups.js'
import type { RuntimeService } from '../ports/runtime.js'
import type { WriteStep } from './decide/order.js'

export interface Hands {
  readonly cgroups: Pick<CgroupTree, 'read' | 'write' | 'apply'>
  readonly runtime: Pick<RuntimeService, 'updateContainerResources'>
  readonly pageSize: bigint
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

interface StepPlace {
  readonly path: CgroupPath
  readonly containerId: string | undefined
}

/** Huge page sizes of all architectures, as the kernel's files name them; those that are not here have no file. */
const hugePages = ['64KB', '1MB', '2MB', '16MB', '32MB', '512MB', '1GB', '2GB', '16GB']

/** Others may tune these, so they must stay as they were. */
const watched: readonly string[] = [
  'memory.min',
  'memory.low',
  'memory.high',
  'memory.max',
  'memory.swap.max',
  'cpu.weight',
  'cpu.max',
  'pids.max',
  'io.weight',
  'cpuset.cpus',
  'cpuset.mems',
  ...hugePages.flatMap((size) => [`hugetlb.${size}.max`, `hugetlb.${size}.rsvd.max`]),
]

/** The files that do not hold their value afterwards: a runtime that ignores `unified`. */
export async function carryOut(hands: Hands, step: WriteStep, place: StepPlace): Promise<readonly string[]> {
  const { cgroups, signal } = hands
  const foreign = watched
    .filter((file) => step.values[file] === undefined)
    .map((file) => ({ file, before: readControlText(cgroups, place.path, file) }))
  if (place.containerId === undefined) await cgroups.apply(place.path, step.values, signal)
  else await updateContainer(hands, place.containerId, step.values)
  for (const { file, before } of foreign) {
    const after = before === undefined ? undefined : readControlText(cgroups, place.path, file)
    // Nothing written is nothing tuned.
    if (before !== undefined && before !== '' && after !== undefined && after !== before)
      cgroups.write(place.path, file, before)
  }
  return Object.entries(step.values)
    .filter(([file, value]) => {
      const now = readControlText(cgroups, place.path, file)
      return now !== undefined && !isSettled(file, value, now, hands.pageSize)
    })
    .map(([file]) => file)
}

async function updateContainer(
  { runtime, signal, timeoutMs }: Hands,
  containerId: string,
  values: Readonly<Record<string, string>>,
): Promise<void> {
  const wrong = Object.keys(values).find((file) => !isMemoryFile(file))
  if (wrong !== undefined)
    throw keelsonError('internal.unexpected', `update ${wrong} of a container: not a file of ours`)
  await runtime.updateContainerResources(
    { containerId, linux: { unified: { ...values } } },
    { signal, timeoutMs },
  )
}
