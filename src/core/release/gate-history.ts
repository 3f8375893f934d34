// Reads the histories of the two gate tables: which stage a gate has in which minor. What was asked for by the
// configuration is feature-gates.ts's business.

import { type GateComponent, type GateRow, gateTable, type Profile } from './gate-table.js'
import { upstreamGates } from './upstream-gates.js'

export type GateStage = 'alpha' | 'beta' | 'ga' | 'deprecated' | 'removed'

export interface GateStep {
  readonly from: number
  readonly stage: GateStage
  readonly on: boolean
  readonly locked: boolean
}

const stageLetters: Readonly<Record<string, GateStage>> = {
  a: 'alpha',
  b: 'beta',
  g: 'ga',
  d: 'deprecated',
  x: 'removed',
}

/** `28a- 34g+!` -> alpha and off from 1.28, GA, on and locked from 1.34. A removed gate keeps its last state. */
export function parseHistory(text: string): readonly GateStep[] {
  const steps: GateStep[] = []
  for (const word of text.split(' ')) {
    const found = /^(\d+)([abgdx])([+-]?)(!?)$/.exec(word)
    const stage = stageLetters[found?.[2] ?? '']
    if (found === null || stage === undefined) throw new Error(`bad gate history ${text}`)
    const removed = stage === 'removed'
    const on = removed ? (steps.at(-1)?.on ?? false) : found[3] === '+'
    steps.push({ from: Number(found[1]), stage, on, locked: removed || found[4] === '!' })
  }
  return steps
}

const ownRows: Readonly<Record<string, GateRow>> = gateTable

export const rowOf = (name: string): GateRow | undefined =>
  Object.hasOwn(ownRows, name) ? ownRows[name] : undefined

/** Parsed on first use: most commands never ask about a gate without behaviour. */
let others: ReadonlyMap<string, string> | undefined
function otherGates(): ReadonlyMap<string, string> {
  others ??= new Map(
    upstreamGates
      .trim()
      .split(/;\s*/)
      .map((entry): [string, string] => {
        const gap = entry.indexOf(' ')
        return [entry.slice(0, gap), entry.slice(gap + 1)]
      }),
  )
  return others
}

const parsed = new Map<string, readonly GateStep[]>()
const noHistory: readonly GateStep[] = []

/** Empty for a name that no release has. Histories repeat, so each text is parsed once. */
export function historyOf(name: string, component: GateComponent, profile: Profile): readonly GateStep[] {
  const row = rowOf(name)
  const own = row?.component === component ? row[profile] : undefined
  const text = own ?? (component === 'kubelet' ? otherGates().get(name) : undefined)
  if (text === undefined) return noHistory
  const known = parsed.get(text)
  if (known !== undefined) return known
  const steps = parseHistory(text)
  parsed.set(text, steps)
  return steps
}

export const stepOf = (
  name: string,
  component: GateComponent,
  profile: Profile,
  minor: number,
): GateStep | undefined => historyOf(name, component, profile).findLast((step) => step.from <= minor)

const names = new Map<GateComponent, readonly string[]>()

export function namesOf(component: GateComponent): readonly string[] {
  const known = names.get(component)
  if (known !== undefined) return known
  const own = Object.keys(ownRows).filter((name) => ownRows[name]?.component === component)
  const all = component === 'kubelet' ? [...own, ...otherGates().keys()] : own
  names.set(component, all)
  return all
}

/** Whether Keelson has a behaviour behind the gate. */
export const isEffective = (name: string, component: GateComponent): boolean => {
  const row = rowOf(name)
  return row?.component === component && row.effective !== false
}
