// Puts first values back: cgroups through the tree, containers through their runtime, in the order in which protection may
// grow and shrink. What is gone needs nothing; what fails stays noted, so that the same call can be made again.
import { readControlText } from '../core/cgroup/control-file.js'
import { splitPath } from '../core/cgroup/path.js'
import { asKeelsonError } from '../core/errors.js'
import { isSettled } from '../core/kernel-text/read-back.js'
import { type Finding, unifiedIgnored, writeFailed } from '../core/memory-qos/findings.js'
import { type QosFile, qosFiles } from '../core/memory-qos/targets.js'
import type { CgroupPath, CgroupTree } from '../ports/cgroups.js'
import { carryOut, type Hands } from './carry-out.js'
import { growsTo } from './decide/decide.js'
import { orderWrites, type PendingWrite, type WriteStep } from './decide/order.js'
import type { FoundCgroup } from './found-values.js'

interface TakenBack {
  /** Every noted file holds its first value again, or its cgroup is gone. */
  readonly settled: readonly CgroupPath[]
  readonly writes: number
  readonly findings: readonly Finding[]
}

type Found = ReadonlyMap<CgroupPath, FoundCgroup>
type Tree = Pick<CgroupTree, 'read' | 'exists'>

const isOurFile = (file: string): file is QosFile => qosFiles.some((own) => own === file)

interface Difference {
  readonly path: CgroupPath
  readonly file: string
  readonly value: string
  readonly now: string
}

function differences(cgroups: Tree, found: Found, pageSize: bigint): readonly Difference[] {
  return [...found].flatMap(([path, { files }]) =>
    Object.entries(files).flatMap(([file, value]) => {
      const now = readControlText(cgroups, path, file)
      return now === undefined || isSettled(file, value, now, pageSize) ? [] : [{ path, file, value, now }]
    }),
  )
}

function stepsOf(found: Found, changes: readonly Difference[]): readonly WriteStep[] {
  const ours = changes.flatMap((d): PendingWrite[] => {
    const level = found.get(d.path)?.level
    if (level === undefined || !isOurFile(d.file)) return []
    const depth = splitPath(d.path).length
    return [{ id: d.path, level, depth, file: d.file, value: d.value, grows: growsTo(d.now, d.value) }]
  })
  const others = changes
    .filter((d) => !isOurFile(d.file))
    .map((d): WriteStep => {
      const level = found.get(d.path)?.level ?? 'reserved'
      return { id: d.path, level, values: { [d.file]: d.value } }
    })
  return [...orderWrites(ours), ...others]
}

export async function takeBack(
  hands: Hands & { readonly cgroups: Hands['cgroups'] & Tree },
  found: Found,
): Promise<TakenBack> {
  const { cgroups, pageSize, signal } = hands
  const findings: Finding[] = []
  let writes = 0
  for (const step of stepsOf(found, differences(cgroups, found, pageSize))) {
    signal.throwIfAborted()
    const containerId = found.get(step.id)?.containerId
    try {
      const unchanged = await carryOut(hands, step, { path: step.id, containerId })
      writes += Object.keys(step.values).length
      if (unchanged.length > 0) findings.push(unifiedIgnored(step.id, unchanged))
    } catch (e) {
      signal.throwIfAborted()
      const error = asKeelsonError(e)
      if (error.code !== 'cgroup.gone' && error.code !== 'runtime.not-found')
        findings.push(writeFailed(step.id, error.message))
    }
  }
  const open = new Set(differences(cgroups, found, pageSize).map((d) => d.path))
  return { settled: [...found.keys()].filter((path) => !open.has(path)), writes, findings }
}
