// The comparison of both sources for people and for programs.
import { formatColumns } from '../../core/pod/printing.js'
import { type FamilyParity, isEqual, type ParityReport } from './parity.js'

function verdict({ compared, onlyRuntime, onlyCgroup, typesDiffer, outside, defects }: FamilyParity): string {
  const words = [
    ...(outside.length > 0 ? [`${outside.length} values differ`] : []),
    ...(onlyCgroup.length > 0
      ? [compared === 0 ? 'not from the runtime' : `${onlyCgroup.length} series lost`]
      : []),
    ...(onlyRuntime.length > 0
      ? [compared === 0 ? 'only from the runtime' : `${onlyRuntime.length} series new`]
      : []),
    ...(typesDiffer ? ['type differs'] : []),
    ...(defects.length > 0 ? [`known: ${defects.join(' or ')}`] : []),
  ]
  return words.length === 0 ? 'same' : words.join(', ')
}

/** The first series that shows it. */
function example({ outside, onlyCgroup, onlyRuntime }: FamilyParity): string {
  const [one] = outside
  if (one !== undefined) return `${one.block} runtime ${one.runtime}, cgroup ${one.cgroup.join(' to ')}`
  return onlyCgroup[0] ?? onlyRuntime[0] ?? ''
}

export function formatParity({ families, notCompared }: ParityReport, verbose: boolean): string {
  const different = families.filter((f) => !isEqual(f))
  const shown = verbose ? families : different
  const table = formatColumns([
    ['ENDPOINT', 'FAMILY', 'RULE', 'SERIES', 'RESULT', 'EXAMPLE'],
    ...shown.map((f) => [f.endpoint, f.name, f.rule, String(f.compared), verdict(f), example(f)]),
  ])
  return [
    shown.length === 0 ? '' : table,
    ...notCompared.map(({ endpoint, why }) => `${endpoint}: ${why}\n`),
    `${families.length} families compared: ${families.length - different.length} the same, ${different.length} different\n`,
  ].join('')
}

export const parityValue = ({ families, notCompared }: ParityReport): object => ({
  same: families.filter(isEqual).length,
  different: families.filter((f) => !isEqual(f)).length,
  notCompared,
  families: families.map((f) => ({ ...f, result: verdict(f) })),
})
