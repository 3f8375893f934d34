// Lists the phases of a command and picks those that run: all, one, or all but some.

import { keelsonError } from '../../core/errors.js'
import { didYouMean } from '../../core/units/nearest-name.js'
import type { CommandName } from '../kubeadm-documents.js'
import { phasesOf } from './index.js'
import type { Phase } from './phase.js'

interface ListedPhase {
  /** `upload-config/kubelet`. */
  readonly path: string
  readonly phase: Phase
}

const walk = (phases: readonly Phase[], parent = ''): ListedPhase[] =>
  phases.flatMap((phase) => {
    const path = `${parent}${phase.name}`
    return [{ path, phase }, ...walk(phase.phases ?? [], `${path}/`)]
  })

export const listPhases = (command: CommandName): ListedPhase[] => walk(phasesOf[command])

interface PhaseSelection {
  /** The path of the only phase to run; undefined: all of them. */
  readonly only: string | undefined
  readonly skip: readonly string[]
}

const covers = (outer: string, path: string): boolean => path === outer || path.startsWith(`${outer}/`)

/** The phases without parts of their own, in order. */
export function selectPhases(command: CommandName, { only, skip }: PhaseSelection): Phase[] {
  const all = listPhases(command)
  for (const name of [...skip, ...(only === undefined ? [] : [only])])
    if (!all.some((p) => p.path === name))
      throw keelsonError(
        'usage.invalid',
        `${command} has no phase ${name}${didYouMean(
          name,
          all.map((p) => p.path),
        )}; it has ${all.map((p) => p.path).join(', ')}`,
        { phase: name },
      )
  return all
    .filter(({ phase }) => phase.phases === undefined)
    .filter(({ path }) => only === undefined || covers(only, path))
    .filter(({ path }) => !skip.some((s) => covers(s, path)))
    .map(({ phase }) => phase)
}
