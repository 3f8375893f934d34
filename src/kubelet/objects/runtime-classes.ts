// The handler of a RuntimeClass, asked for when a sandbox is made: pods with a class are few, and their classes do not change.
import { keelsonError } from '../../core/errors.js'
import type { RuntimeClass } from '../../core/kube/objects.js'
import { objectPath, runtimeClasses } from '../../core/kube/path.js'
import type { KubeApi } from '../../ports/kube-api.js'

/** What the runtime is told; empty is its default. A class that does not exist is an error in upstream's words. */
export type HandlerOf = (runtimeClassName: string | undefined, signal: AbortSignal) => Promise<string>

export const createHandlerOf =
  (api: Pick<KubeApi, 'get'> | undefined): HandlerOf =>
  async (name, signal) => {
    if (name === undefined) return ''
    const found = await api?.get<RuntimeClass>(objectPath(runtimeClasses, { name }), {
      signal,
      doing: `failed to lookup RuntimeClass ${name}`,
    })
    if (found !== undefined) return found.handler ?? ''
    throw keelsonError('pod.invalid', `runtimeclass.node.k8s.io ${JSON.stringify(name)} not found`)
  }
