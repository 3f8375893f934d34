// The flags of a run of Kubernetes' cluster suite, and the specs that it is about.
import { type ClusterOptions, parseClusterOptions } from '../cluster/options.js'
import type { ListedSpec } from '../e2e-node/specs.js'
import { type OptionValues, UsageError } from '../unit.js'

export const defaultProcs = 4

/** Kubernetes' special interest groups that have Conformance specs. */
export const sigs = [
  'api-machinery',
  'apps',
  'architecture',
  'auth',
  'cli',
  'instrumentation',
  'network',
  'node',
  'scheduling',
  'storage',
] as const
export type Sig = (typeof sigs)[number]

interface E2eSelection {
  /** Every Conformance spec of these groups. */
  readonly sigs: readonly Sig[]
  /** Names contain the text. */
  readonly focus: string | undefined
}

export interface E2eOptions extends ClusterOptions {
  readonly selection: E2eSelection
  readonly procs: number
  readonly record: boolean
  readonly keep: string | undefined
}

function parseSigs(text: string | undefined): Sig[] {
  if (text === undefined) return []
  return text.split(',').map((word) => {
    const found = sigs.find((s) => s === word)
    if (found === undefined) throw new UsageError(`--sig ${word}: choose from ${sigs.join(', ')}`)
    return found
  })
}

export function parseE2eOptions(given: OptionValues): E2eOptions {
  const text = (name: string): string | undefined => {
    const value = given[name]
    return typeof value === 'string' ? value : undefined
  }
  const procs = Number(text('procs') ?? defaultProcs)
  if (!Number.isInteger(procs) || procs < 1 || procs > 64)
    throw new UsageError(`--procs ${text('procs')}: give a number from 1 to 64`)
  if (text('focus') === '') throw new UsageError('--focus: give a text that names of specs contain')
  return {
    ...parseClusterOptions(given),
    selection: { sigs: parseSigs(text('sig')), focus: text('focus') },
    procs,
    record: given.record === true,
    keep: text('keep'),
  }
}

const apiOnly = /^\[sig-node\] (PodTemplates |Lease |\[DRA\] CRUD Tests ).*\[Conformance\]/

export const sigOf = (name: string): string => /^\[sig-([a-z-]+)\]/.exec(name)?.[1] ?? 'none'

const isOf = ({ name, labels }: ListedSpec, chosen: readonly string[]): boolean =>
  labels.includes('Conformance') && chosen.includes(sigOf(name))

/** Without any flag: the Conformance specs of sig-node that need the API alone. */
export const chooseSpecs = (
  list: readonly ListedSpec[],
  { sigs: chosen, focus }: E2eSelection,
): ListedSpec[] =>
  chosen.length === 0 && focus === undefined
    ? list.filter(({ name }) => apiOnly.test(name))
    : list
        .filter((spec) => chosen.length === 0 || isOf(spec, chosen))
        .filter(({ name }) => focus === undefined || name.includes(focus))
