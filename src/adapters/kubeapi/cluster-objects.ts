// ConfigMaps of kube-system and the annotations of a Node, over the official client, which is loaded only when a
// kubeconfig is given.
import type { ConfigurationOptions, ObservableMiddleware } from '@kubernetes/client-node'
import { type KeelsonError, keelsonError } from '../../core/errors.js'
import type { ClusterObjects } from '../../ports/bootstrap.js'

const namespace = 'kube-system'
const callTimeoutMs = 10_000

const statusOf = (e: unknown): number | undefined =>
  e instanceof Error && 'code' in e && typeof e.code === 'number' ? e.code : undefined

/** The server's own sentence, where it sent one. */
function wordsOf(e: unknown): string {
  const body = e instanceof Error && 'body' in e && typeof e.body === 'string' ? e.body : ''
  try {
    const parsed: unknown = JSON.parse(body)
    if (typeof parsed === 'object' && parsed !== null && 'message' in parsed)
      return `: ${String(parsed.message)}`
  } catch {
    // Not a Status object: the number says enough.
  }
  return ''
}

function toError(doing: string, e: unknown): KeelsonError {
  const status = statusOf(e)
  if (status !== undefined)
    return keelsonError(
      'kubeapi.failed',
      `${doing}: the API server responded with ${status}${wordsOf(e)}`,
      { status },
      e,
    )
  const why = e instanceof Error ? e.message : String(e)
  return keelsonError('kubeapi.failed', `${doing}: the API server is unreachable: ${why}`, {}, e)
}

export async function createClusterObjects(kubeconfigPath: string): Promise<ClusterObjects> {
  const client = await import('@kubernetes/client-node')
  const config = new client.KubeConfig()
  try {
    config.loadFromFile(kubeconfigPath)
    if (config.getCurrentCluster() === null) throw new Error('the current context has no cluster')
  } catch (e) {
    const why = e instanceof Error ? e.message : String(e)
    throw keelsonError(
      'input.unreadable',
      `read kubeconfig ${kubeconfigPath}: ${why}`,
      { path: kubeconfigPath },
      e,
    )
  }
  const core = config.makeApiClient(client.CoreV1Api)

  const limits = (header?: readonly [string, string]): ConfigurationOptions => {
    const middleware: ObservableMiddleware = {
      pre(context) {
        context.setSignal(AbortSignal.timeout(callTimeoutMs))
        if (header !== undefined) context.setHeaderParam(...header)
        return new client.Observable(Promise.resolve(context))
      },
      post: (context) => new client.Observable(Promise.resolve(context)),
    }
    return { middleware: [middleware], middlewareMergeStrategy: 'append' }
  }
  const mergePatch = ['Content-Type', 'application/merge-patch+json'] as const
  const call = async <T>(doing: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (e) {
      throw toError(doing, e)
    }
  }
  const orMissing = async <T>(work: Promise<T>): Promise<T | undefined> => {
    try {
      return await work
    } catch (e) {
      if (statusOf(e) === 404) return undefined
      throw e
    }
  }

  return {
    readConfigMap: (name) =>
      call(`read ConfigMap ${namespace}/${name}`, async () => {
        const found = await orMissing(core.readNamespacedConfigMap({ name, namespace }, limits()))
        return found === undefined ? undefined : { ...found.data }
      }),
    writeConfigMap: (name, data) =>
      call(`write ConfigMap ${namespace}/${name}`, async () => {
        const patched = await orMissing(
          core.patchNamespacedConfigMap({ name, namespace, body: { data } }, limits(mergePatch)),
        )
        if (patched === undefined)
          await core.createNamespacedConfigMap(
            { namespace, body: { metadata: { name, namespace }, data: { ...data } } },
            limits(),
          )
      }),
    deleteConfigMap: (name) =>
      call(`delete ConfigMap ${namespace}/${name}`, async () => {
        await orMissing(core.deleteNamespacedConfigMap({ name, namespace }, limits()))
      }),
    readNode: (name) =>
      call(`read Node ${name}`, async () => {
        const found = await orMissing(core.readNode({ name }, limits()))
        return found === undefined ? undefined : { annotations: found.metadata?.annotations ?? {} }
      }),
    annotateNode: (name, key, value) =>
      call(`annotate Node ${name}`, async () => {
        const body = { metadata: { annotations: { [key]: value ?? null } } }
        await core.patchNode({ name, body }, limits(mergePatch))
      }),
  }
}
