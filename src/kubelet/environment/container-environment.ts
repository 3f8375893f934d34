// Reads what the variables of a container are taken from, and only that, then decides (decide/container-env.ts).
import { rethrowBug } from '../../core/errors.js'
import type { KubeService } from '../../core/kube/objects.js'
import { isStaticPod } from '../../core/pod/pod.js'
import type { ContainerSpec, PodSpec } from '../../core/pod/spec/spec.js'
import { noResources } from '../../core/units/resource-list.js'
import type { NodeObjects } from '../objects/node-objects.js'
import type { PodContext } from '../pods/context.js'
import { environmentReferences } from '../pods/decide/references.js'
import { emptyDirPath } from '../pods/to-cri/names.js'
import {
  type ContainerWords,
  containerWords,
  type EnvSources,
  fileId,
  type ObjectValues,
} from './decide/container-env.js'
import { serviceEnv } from './decide/service-env.js'

/** Far above what a process can be given as its environment. */
const maxEnvFile = 1024 * 1024
const serviceLooks = 50
const serviceLookMs = 100

type Context = Pick<
  PodContext,
  'nodeName' | 'hostIPs' | 'allocatable' | 'objects' | 'host' | 'paths' | 'clock' | 'log'
>

/** A text: why the container cannot be configured. */
export async function containerEnvironment(
  spec: PodSpec,
  container: ContainerSpec,
  podIPs: readonly string[],
  c: Context,
  signal: AbortSignal,
): Promise<ContainerWords | string> {
  const { nodeName, hostIPs } = c
  const asksForResources = container.env.some((variable) => 'resource' in variable)
  const allocatable = asksForResources ? await c.allocatable() : noResources
  const sources = await readSources(spec, container, c, signal)
  if (typeof sources === 'string') return sources
  return containerWords(spec, container, { nodeName, hostIPs, podIPs, allocatable }, sources)
}

async function readSources(
  spec: PodSpec,
  container: ContainerSpec,
  c: Context,
  signal: AbortSignal,
): Promise<EnvSources | string> {
  const { objects } = c
  const { namespace } = spec.pod
  const services = objects === undefined ? [] : await firstServices(spec, objects, c, signal)
  if (services === undefined) return 'services have not yet been read at least once, cannot construct envvars'
  const configMaps = new Map<string, ObjectValues>()
  const secrets = new Map<string, ObjectValues>()
  try {
    for (const { kind, name } of environmentReferences(container)) {
      if (objects === undefined) return `couldn't get ${kind} ${namespace}/${name}, no kubeClient defined`
      if (kind === 'configMap') {
        const found = await objects.configMap(namespace, name, signal)
        if (found !== undefined) configMaps.set(name, new Map(Object.entries(found.data ?? {})))
      } else {
        const found = await objects.secret(namespace, name, signal)
        if (found !== undefined) secrets.set(name, decoded(found.data ?? {}))
      }
    }
  } catch (e) {
    if (signal.aborted) throw e
    return rethrowBug(e).message
  }
  return {
    configMaps,
    secrets,
    files: await readFiles(spec, container, c),
    services: serviceEnv(services, namespace, spec.enableServiceLinks),
  }
}

/** The list is there moments after the kubelet has started. A static pod does not wait for it: it may be the API server. */
async function firstServices(
  { pod }: PodSpec,
  objects: Pick<NodeObjects, 'services'>,
  { clock }: Context,
  signal: AbortSignal,
): Promise<readonly KubeService[] | undefined> {
  if (isStaticPod(pod)) return objects.services() ?? []
  for (let i = 0; i < serviceLooks && objects.services() === undefined; i += 1)
    await clock.sleep(serviceLookMs, signal)
  return objects.services()
}

const decoded = (data: Readonly<Record<string, string>>): ObjectValues =>
  new Map(Object.entries(data).map(([key, base64]) => [key, Buffer.from(base64, 'base64').toString()]))

async function readFiles(
  { pod }: PodSpec,
  { env, name }: ContainerSpec,
  { host, paths, log }: Context,
): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>()
  for (const variable of env) {
    if (!('fileKey' in variable)) continue
    const { fileKey } = variable
    try {
      const bytes = await host.readBelow(
        emptyDirPath(paths, pod.uid, fileKey.volume),
        fileKey.path,
        maxEnvFile,
      )
      if (bytes !== undefined) files.set(fileId(fileKey), Buffer.from(bytes).toString())
    } catch (e) {
      log.warn('failed to read a file of variables', { pod: pod.name, container: name, error: rethrowBug(e) })
    }
  }
  return files
}
