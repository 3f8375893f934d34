// The specs of a suite as ginkgo lists them, and the choice of those that a run is about.
import { type GroupName, groupOf } from './groups.js'

export interface ListedSpec {
  readonly name: string
  readonly group: GroupName
  readonly labels: readonly string[]
}

interface SpecReport {
  readonly LeafNodeType: string
  readonly ContainerHierarchyTexts: readonly string[] | null
  readonly ContainerHierarchyLabels: readonly (readonly string[] | null)[] | null
  readonly LeafNodeText: string
  readonly LeafNodeLabels: readonly string[] | null
  readonly LeafNodeLocation: { readonly FileName: string }
}

/** Text as ginkgo matches it: containers and leaf, one blank between them; a container may have no text. */
export const specText = (r: {
  readonly ContainerHierarchyTexts: readonly string[] | null
  readonly LeafNodeText: string
}): string => [...(r.ContainerHierarchyTexts ?? []), r.LeafNodeText].filter((t) => t !== '').join(' ')

/** From the report of a dry run. */
export function parseList(text: string): ListedSpec[] {
  const suites = JSON.parse(text) as readonly { readonly SpecReports: readonly SpecReport[] | null }[]
  return suites
    .flatMap((s) => s.SpecReports ?? [])
    .filter((r) => r.LeafNodeType === 'It')
    .map((r) => ({
      name: specText(r),
      group: groupOf(r.LeafNodeLocation.FileName),
      labels: [...(r.ContainerHierarchyLabels ?? []).flatMap((l) => l ?? []), ...(r.LeafNodeLabels ?? [])],
    }))
}

const marks = new Set(['Serial', 'Slow', 'Disruptive', 'Flaky', 'Alpha', 'Beta'])

/** NodeConformance that needs nothing special: the list to hold a kubelet to. */
export const isPlain = ({ labels }: ListedSpec): boolean =>
  labels.includes('NodeConformance') && !labels.some((l) => marks.has(l) || l.startsWith('Feature:'))

export const isStandalone = ({ labels }: ListedSpec): boolean => labels.includes('Feature:StandaloneMode')

export const sets = ['plain', 'node-conformance', 'standalone', 'all'] as const
export type SetName = (typeof sets)[number]

const inSet: Readonly<Record<SetName, (spec: ListedSpec) => boolean>> = {
  plain: isPlain,
  'node-conformance': ({ labels }) => labels.includes('NodeConformance'),
  standalone: isStandalone,
  all: (spec) => !isStandalone(spec), // those need another mode of the whole suite
}

export interface Selection {
  readonly set: SetName
  readonly group?: GroupName
  readonly focus?: string
  readonly skip?: string
  /** The k-th of n parts, from 1. */
  readonly shard?: { readonly part: number; readonly of: number }
}

/** `one text|another text` */
const hasOneOf = (name: string, texts: string): boolean =>
  texts.split('|').some((text) => name.includes(text))

/** In the order of the list, so that shards of one selection never overlap. */
export function selectSpecs(list: readonly ListedSpec[], selection: Selection): ListedSpec[] {
  const { set, group, focus, skip, shard } = selection
  return list
    .filter((s) => inSet[set](s))
    .filter((s) => group === undefined || s.group === group)
    .filter((s) => focus === undefined || hasOneOf(s.name, focus))
    .filter((s) => skip === undefined || !hasOneOf(s.name, skip))
    .filter((_, i) => shard === undefined || i % shard.of === shard.part - 1)
}

/** Exactly these specs for ginkgo, whose --focus is a regular expression over text that ends with the spec's name. */
export const focusArguments = (specs: readonly ListedSpec[]): string[] =>
  specs.map((s) => `--focus=${s.name.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`)
