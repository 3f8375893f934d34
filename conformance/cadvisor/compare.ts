// cAdvisor's series beside ours, family by family: ours must lie between a reading of cAdvisor before and one after.
import { isWithin, ruleOf } from '../../src/doctor/metrics/parity.js'
import { labelOf, type PrintedSeries, readText } from '../../src/doctor/metrics/read-text.js'

export type DifferenceKind = 'value' | 'ours-only' | 'cadvisor-only'

export interface Difference {
  readonly kind: DifferenceKind
  readonly name: string
  readonly key: string
  readonly ours?: number
  readonly cadvisor?: readonly [number, number]
}

export interface Comparison {
  readonly families: number
  readonly series: number
  readonly differences: readonly Difference[]
  readonly oursOnlyFamilies: readonly string[]
  readonly cadvisorOnlyFamilies: readonly string[]
}

/**
 * Labels that say which series it is. Networks stand on the sandbox's row there and on the pod's row here; the names of a
 * pod's own cgroup are the kubelet's, which looks them up for cAdvisor.
 */
function keyOf({ name, block }: PrintedSeries): string {
  if (name.startsWith('container_network_') && labelOf(block, 'id') !== '/')
    return ['namespace', 'pod', 'interface'].map((l) => `${l}=${labelOf(block, l) ?? ''}`).join(',')
  if (labelOf(block, 'image') !== '') return block
  return block.replace(/(namespace|pod)="[^"]*"/g, '$1=""')
}

/** Only what concerns the pods of the scenario, the node and the machine: other cgroups are not ours to list. */
const concerns =
  (pods: readonly string[]) =>
  ({ name, block }: PrintedSeries): boolean => {
    const id = labelOf(block, 'id') ?? ''
    return name.startsWith('machine_') || id === '/' || pods.some((pod) => id.includes(`/pod${pod}`))
  }

type Families = Map<string, Map<string, PrintedSeries>>

function familiesOf(text: string, pods: readonly string[]): Families {
  const families: Families = new Map()
  for (const series of readText(text).filter(concerns(pods))) {
    const family = families.get(series.name) ?? new Map<string, PrintedSeries>()
    families.set(series.name, family.set(keyOf(series), series))
  }
  return families
}

export function compareWithCadvisor(
  texts: { readonly before: string; readonly ours: string; readonly after: string },
  pods: readonly string[],
): Comparison {
  const [before, ours, after] = [texts.before, texts.ours, texts.after].map((t) => familiesOf(t, pods))
  const differences: Difference[] = []
  let series = 0
  const both = [...(ours?.keys() ?? [])].filter((name) => before?.has(name) === true).sort()
  for (const name of both) {
    const [a, mine, b] = [before?.get(name), ours?.get(name), after?.get(name)]
    for (const [key, { value, type }] of mine ?? []) {
      const [low, high] = [a?.get(key)?.value, b?.get(key)?.value]
      if (low === undefined || high === undefined) {
        differences.push({ kind: 'ours-only', name, key })
        continue
      }
      series++
      if (!isWithin(name, ruleOf({ name, type }), value, Math.min(low, high), Math.max(low, high)))
        differences.push({ kind: 'value', name, key, ours: value, cadvisor: [low, high] })
    }
    for (const key of a?.keys() ?? [])
      if (b?.has(key) === true && mine?.has(key) !== true)
        differences.push({ kind: 'cadvisor-only', name, key })
  }
  return {
    families: both.length,
    series,
    differences,
    oursOnlyFamilies: [...(ours?.keys() ?? [])].filter((n) => before?.has(n) !== true).sort(),
    cadvisorOnlyFamilies: [...(before?.keys() ?? [])].filter((n) => ours?.has(n) !== true).sort(),
  }
}
