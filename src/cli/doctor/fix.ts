// Carries out the fixes that were asked for by name. The plans are pure; this is the only place that acts on them.
import { keelsonError } from '../../core/errors.js'
import { didYouMean } from '../../core/units/nearest-name.js'
import type { DoctorPorts } from '../../doctor/doctor-ports.js'
import type { DoctorFacts } from '../../doctor/facts.js'
import { type FixStep, formatStep } from '../../doctor/fixes/fix.js'
import { fixes } from '../../doctor/fixes/index.js'
import type { CgroupTree } from '../../ports/cgroups.js'

/** What was done, a line each. The first step that fails ends it with the error. */
export async function applyFixes(
  names: readonly string[],
  facts: DoctorFacts,
  ports: Pick<DoctorPorts, 'openCgroups' | 'diagnosis'>,
): Promise<readonly string[]> {
  const known = fixes.map((f) => f.check)
  for (const name of names)
    if (!known.includes(name))
      throw keelsonError(
        'usage.invalid',
        `--fix ${name}: no safe fix for this check${didYouMean(name, known)}; checks with a fix: ${known.join(', ')}`,
        { name },
      )
  const steps = fixes.filter((f) => names.includes(f.check)).flatMap((f) => f.plan(facts))
  if (steps.length === 0) return []
  const tree = steps.some((s) => s.kind !== 'mode') ? ports.openCgroups() : undefined
  try {
    const done: string[] = []
    for (const step of steps) {
      await carryOut(step, tree, ports.diagnosis)
      done.push(formatStep(step))
    }
    return done
  } finally {
    tree?.close()
  }
}

async function carryOut(
  step: FixStep,
  tree: CgroupTree | undefined,
  diagnosis: DoctorPorts['diagnosis'],
): Promise<void> {
  if (step.kind === 'mode') return diagnosis.changeMode(step.path, step.mode)
  if (tree === undefined) throw new Error('a cgroup step without a tree')
  if (step.kind === 'write') return tree.write(step.cgroup, step.file, step.value)
  await tree.remove(step.cgroup)
}
