// What the cluster believes about this node.
import { type Check, error, type Finding, ok, skipped, warn } from '../check.js'
import type { ClusterFacts } from '../cluster-facts.js'

interface Facts {
  readonly cluster: Pick<ClusterFacts, 'problem' | 'node' | 'nodeName'> | undefined
}

export const nodeConditions: Check<Facts> = {
  name: 'node-conditions',
  asks: 'What does the cluster say about this node?',
  run({ cluster }): Finding | readonly Finding[] {
    if (cluster === undefined || cluster.problem !== undefined)
      return skipped('the API server did not answer')
    const { node, nodeName } = cluster
    if (node === undefined)
      return error(
        `the cluster has no Node ${nodeName}`,
        'start the kubelet; with registerNode: false someone else has to create it',
      )
    const conditions = node.status?.conditions ?? []
    const evidence = conditions.map(
      (c) => `${c.type} ${c.status}${c.reason === undefined ? '' : ` (${c.reason})`}`,
    )
    const ready = conditions.find((c) => c.type === 'Ready')
    const found = [
      ...(ready?.status === 'True'
        ? []
        : [
            error(
              `the node is not Ready: ${ready?.message ?? 'it never said so'}`,
              'do what the message says',
              evidence,
            ),
          ]),
      ...conditions
        .filter((c) => c.type !== 'Ready' && c.status === 'True')
        .map((c) =>
          warn(`${c.type}: ${c.message ?? ''}`, 'free what runs short, or move pods elsewhere', evidence),
        ),
      ...(node.spec?.unschedulable === true
        ? [
            warn(
              'the node is cordoned: new pods go elsewhere',
              `kubectl uncordon ${nodeName}, when it may work again`,
            ),
          ]
        : []),
    ]
    return found.length === 0 ? ok(...evidence) : found
  },
}
