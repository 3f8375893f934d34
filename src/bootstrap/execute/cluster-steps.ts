// Changes of the cluster's objects: which are still needed, each with its undo step, and running one.
import type { ClusterObjects } from '../../ports/bootstrap.js'
import type { ClusterChange } from '../plan.js'
import { isSameValue, parseYamlDocuments } from '../yaml-text.js'
import type { ClusterStep } from './journal.js'

interface NeededSteps {
  readonly steps: readonly ClusterStep[]
  /** Changes that wait for the node to register. */
  readonly waiting: readonly ClusterChange[]
}

export async function neededSteps(
  cluster: ClusterObjects,
  changes: readonly ClusterChange[],
): Promise<NeededSteps> {
  const steps: ClusterStep[] = []
  const waiting: ClusterChange[] = []
  for (const change of changes) {
    if (change.kind === 'annotate') {
      const node = await cluster.readNode(change.node)
      const now = node?.annotations[change.key]
      if (node === undefined) {
        if (change.value !== undefined) waiting.push(change)
      } else if (now !== change.value) steps.push({ change, before: { ...change, value: now } })
    } else {
      const now = await cluster.readConfigMap(change.name)
      const isNew = Object.entries(change.data).some(
        ([k, v]) => now?.[k] === undefined || !isSameYaml(now[k], v),
      )
      if (isNew) steps.push({ change, before: configMapBefore(change, now) })
    }
  }
  return { steps, waiting }
}

function configMapBefore(
  change: ClusterChange & { readonly kind: 'config-map' },
  now: Readonly<Record<string, string>> | undefined,
): ClusterStep['before'] {
  if (now === undefined) return { kind: 'delete-config-map', name: change.name }
  const data = Object.fromEntries(Object.keys(change.data).map((k) => [k, now[k] ?? '']))
  return { kind: 'config-map', name: change.name, data }
}

/** A document that says the same in other words is not written again. */
function isSameYaml(a: string, b: string): boolean {
  if (a === b) return true
  try {
    return isSameValue(parseYamlDocuments(a, 'ConfigMap'), parseYamlDocuments(b, 'ConfigMap'))
  } catch {
    return false
  }
}

export async function runStep(cluster: ClusterObjects, step: ClusterStep['before']): Promise<void> {
  if (step.kind === 'annotate') await cluster.annotateNode(step.node, step.key, step.value)
  else if (step.kind === 'config-map') await cluster.writeConfigMap(step.name, step.data)
  else await cluster.deleteConfigMap(step.name)
}

/** The same change as a manual step. */
export function describeChange(change: ClusterChange): string {
  if (change.kind === 'annotate')
    return change.value === undefined
      ? `kubectl annotate node ${change.node} ${change.key}-`
      : `kubectl annotate --overwrite node ${change.node} ${change.key}=${change.value}`
  return `write this to ConfigMap kube-system/${change.name}, key ${Object.keys(change.data).join(', ')}`
}
