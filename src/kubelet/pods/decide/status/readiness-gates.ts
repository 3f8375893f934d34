// Readiness gates: conditions that others set on a pod and that its readiness waits for.
import type { KubePod } from '../../../../core/kube/objects.js'
import type { PodCondition } from '../../../../core/pod/status-json.js'

type SetCondition = Pick<PodCondition, 'type'> & { readonly status: string }

const listOf = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value : []

/** The state of each gate of a pod of the API server, to notice a change. */
export function gateStates({ spec, status }: KubePod): readonly unknown[] {
  const conditions = listOf(status?.['conditions'])
  return listOf(spec?.['readinessGates']).map(
    ({ conditionType }) => conditions.find(({ type }) => type === conditionType)?.['status'],
  )
}

/** Undefined: every gate is open. */
export function gateProblem(
  gates: readonly string[],
  conditions: readonly SetCondition[],
): { readonly reason: string; readonly message: string } | undefined {
  const problems = gates.flatMap((gate) => {
    const condition = conditions.find(({ type }) => type === gate)
    if (condition === undefined)
      return [`corresponding condition of pod readiness gate "${gate}" does not exist.`]
    return condition.status === 'True'
      ? []
      : [`the status of pod readiness gate "${gate}" is not "True", but ${condition.status}`]
  })
  return problems.length === 0
    ? undefined
    : { reason: 'ReadinessGatesNotReady', message: problems.join(', ') }
}
