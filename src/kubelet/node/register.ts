// Registers the Node: creates it, or brings one that is there into line. Tried until it succeeds.
import { asKeelsonError, isKeelsonError } from '../../core/errors.js'
import type { KubeNode } from '../../core/kube/objects.js'
import { collectionPath, nodes, objectPath } from '../../core/kube/path.js'
import { callStatusOf } from '../../core/kube/retry.js'
import type { Clock } from '../../ports/clock.js'
import type { KubeApi } from '../../ports/kube-api.js'
import type { Log } from '../../ports/log.js'
import { newNode, type RegistrationSettings, reconcileNode } from './decide/new-node.js'
import { nodeStatusPatch } from './decide/node-patch.js'
import { decideNodeStatus, type NodeFactsNow, type StatusDecision } from './decide/node-status.js'

interface RegisterOptions {
  readonly api: KubeApi
  readonly clock: Clock
  readonly log: Log
  readonly settings: RegistrationSettings
  readonly gather: (signal: AbortSignal) => Promise<NodeFactsNow>
  readonly signal: AbortSignal
}

interface Registered {
  readonly node: KubeNode
  /** What the status of a Node that was created says for the first time; undefined: it was there. */
  readonly created: StatusDecision | undefined
}

const firstWaitMs = 100
const longestWaitMs = 7_000
const timeoutMs = 10_000

/** Undefined: the signal was aborted. */
export async function registerNode(o: RegisterOptions): Promise<Registered | undefined> {
  const { clock, log, signal } = o
  const { name } = o.settings
  let said = ''
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    await clock.sleep(waitMs, signal).catch(() => undefined)
    if (signal.aborted) return undefined
    try {
      const registered = await tryRegister(o)
      log.info('the Node is registered', { node: name, created: registered.created !== undefined })
      return registered
    } catch (e) {
      if (signal.aborted) return undefined
      if (!isKeelsonError(e)) throw e
      const error = asKeelsonError(e)
      // Every few seconds for as long as the API server is unreachable: each reason is said once.
      if (error.message !== said) log.warn('the Node cannot be registered; retrying', { node: name, error })
      said = error.message
    }
  }
}

async function tryRegister({ api, settings, gather, signal }: RegisterOptions): Promise<Registered> {
  const options = { signal, timeoutMs, retry: 'never' } as const
  const decision = decideNodeStatus(newNode(settings), await gather(signal))
  try {
    const node = await api.create(collectionPath(nodes), decision.node, options)
    return { node, created: decision }
  } catch (e) {
    // 403: this identity may not create Nodes, but there may be one.
    const status = callStatusOf(e)
    if (status !== 409 && status !== 403) throw e
    const path = { name: settings.name }
    const existing = await api.get<KubeNode>(objectPath(nodes, path), options)
    if (existing === undefined) throw e
    const patch = nodeStatusPatch(existing, reconcileNode(existing, decision.node))
    if (patch === undefined) return { node: existing, created: undefined }
    const statusPath = objectPath(nodes, { ...path, subresource: 'status' })
    return { node: await api.patch<KubeNode>(statusPath, 'strategic', patch, options), created: undefined }
  }
}
