// Whether a pod or a persistent volume wants this node by its labels: nodeSelector and the required part of node affinity. Fields
// are read as the API server gives them; a term that cannot be read matches nothing.

interface Expression {
  readonly key?: unknown
  readonly operator?: unknown
  readonly values?: unknown
}

interface Term {
  readonly matchExpressions?: readonly Expression[] | null
  readonly matchFields?: readonly Expression[] | null
}

/** As pods have it, and persistent volumes. */
interface NodeSelector {
  readonly nodeSelectorTerms?: readonly Term[] | null
}

interface PlacementFields {
  readonly nodeSelector?: Readonly<Record<string, string>> | null
  readonly affinity?: {
    readonly nodeAffinity?: {
      readonly requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector | null
    } | null
  } | null
}

export interface LabelledNode {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
}

export function matchesNode(spec: Readonly<Record<string, unknown>>, node: LabelledNode): boolean {
  const { nodeSelector, affinity } = spec as PlacementFields
  const selected = Object.entries(nodeSelector ?? {}).every(([key, value]) => node.labels[key] === value)
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  if (!selected || required === undefined || required === null) return selected
  return isSelected(required, node)
}

export const isSelected = ({ nodeSelectorTerms }: NodeSelector, { name, labels }: LabelledNode): boolean =>
  (nodeSelectorTerms ?? []).some((term) => {
    const expressions = term.matchExpressions ?? []
    const fields = term.matchFields ?? []
    // A term without conditions matches no node.
    if (expressions.length + fields.length === 0) return false
    return (
      expressions.every((e) => holds(e, labels)) && fields.every((e) => holds(e, { 'metadata.name': name }))
    )
  })

function holds({ key, operator, values }: Expression, labels: Readonly<Record<string, string>>): boolean {
  if (typeof key !== 'string') return false
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined
  const given: readonly unknown[] = Array.isArray(values) ? values : []
  switch (operator) {
    case 'In':
      return value !== undefined && given.includes(value)
    case 'NotIn':
      return value === undefined || !given.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
    case 'Lt': {
      const [label, bound] = [wholeNumber(value), wholeNumber(given[0])]
      if (label === undefined || bound === undefined) return false
      return operator === 'Gt' ? label > bound : label < bound
    }
    default:
      return false
  }
}

const wholeNumber = (text: unknown): bigint | undefined =>
  typeof text === 'string' && /^[+-]?\d{1,18}$/.test(text) ? BigInt(text.replace('+', '')) : undefined
