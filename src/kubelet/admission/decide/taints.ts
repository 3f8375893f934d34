// Whether a pod tolerates the taints that end pods: of all effects only NoExecute is the node's own business.
import type { Taint } from '../../../core/kube/objects.js'

interface Toleration {
  readonly key?: string
  readonly operator?: string
  readonly value?: string
  readonly effect?: string
}

export function toleratesNoExecute(
  spec: Readonly<Record<string, unknown>>,
  taints: readonly Taint[],
): boolean {
  const tolerations = Array.isArray(spec['tolerations']) ? (spec['tolerations'] as readonly Toleration[]) : []
  return taints
    .filter(({ effect }) => effect === 'NoExecute')
    .every((taint) => tolerations.some((toleration) => tolerates(toleration, taint)))
}

function tolerates({ key = '', operator = '', value = '', effect = '' }: Toleration, taint: Taint): boolean {
  if (effect !== '' && effect !== taint.effect) return false
  if (key !== '' && key !== taint.key) return false
  if (operator === 'Exists') return true
  return (operator === '' || operator === 'Equal') && key !== '' && value === (taint.value ?? '')
}
