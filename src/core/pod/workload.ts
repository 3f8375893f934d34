// Finds the pods in a Kubernetes document: a Pod itself, the template of a workload, or each item of a list.
// Reading the pod's fields is parse-pod.ts; this file only knows where a pod hides.
import { keelsonError } from '../errors.js'

interface PodSource {
  /** What the person wrote: `Deployment web`. */
  readonly origin: string
  /** An untyped Pod object; its metadata.name is the workload's where the template has none. */
  readonly pod: Readonly<Record<string, unknown>>
}

interface FoundPods {
  readonly pods: readonly PodSource[]
  /** Kinds without pods (a Service, a ConfigMap): passed over, but said. */
  readonly skipped: readonly string[]
}

type Fields = Readonly<Record<string, unknown>>

/** kind -> where its pod template is. The API groups decide nothing here: the kinds are unique. */
const templatePaths: Readonly<Record<string, readonly string[]>> = {
  Deployment: ['spec', 'template'],
  StatefulSet: ['spec', 'template'],
  DaemonSet: ['spec', 'template'],
  ReplicaSet: ['spec', 'template'],
  ReplicationController: ['spec', 'template'],
  Job: ['spec', 'template'],
  CronJob: ['spec', 'jobTemplate', 'spec', 'template'],
  PodTemplate: ['template'],
}

export const workloadKinds: readonly string[] = ['Pod', ...Object.keys(templatePaths)]

const maxItems = 10_000

export function findPods(document: unknown, depth = 0): FoundPods {
  const object = fieldsOf(document)
  const kind = object?.['kind']
  if (object === undefined || typeof kind !== 'string')
    throw keelsonError(
      'pod.invalid',
      'the document is not a Kubernetes object: it has no kind; give a Pod, a list, or a workload with a pod template',
    )
  if (kind.endsWith('List') && object['items'] !== undefined) return findInList(kind, object['items'], depth)
  if (kind === 'Pod') return { pods: [{ origin: describe(kind, object), pod: object }], skipped: [] }
  const path = Object.hasOwn(templatePaths, kind) ? templatePaths[kind] : undefined
  if (path === undefined) return { pods: [], skipped: [describe(kind, object)] }
  return { pods: [fromTemplate(kind, object, path)], skipped: [] }
}

function findInList(kind: string, items: unknown, depth: number): FoundPods {
  if (!Array.isArray(items))
    throw keelsonError('pod.invalid', `${kind}: items is not a list; write a list of objects`)
  if (items.length > maxItems)
    throw keelsonError('pod.invalid', `${kind}: ${items.length} items; at most ${maxItems} are read`)
  if (depth > 3)
    throw keelsonError('pod.invalid', `${kind}: lists are nested too deeply; at most 3 levels are read`)
  // Items of a typed list (PodList) carry no kind of their own.
  const itemKind = kind.slice(0, -'List'.length)
  const found = items.map((item: unknown) => {
    const fields = fieldsOf(item)
    const typed = fields !== undefined && fields['kind'] === undefined && itemKind !== ''
    return findPods(typed ? { ...fields, kind: itemKind } : item, depth + 1)
  })
  return { pods: found.flatMap((f) => f.pods), skipped: found.flatMap((f) => f.skipped) }
}

function fromTemplate(kind: string, object: Fields, path: readonly string[]): PodSource {
  const origin = describe(kind, object)
  let at: unknown = object
  for (const key of path) at = fieldsOf(at)?.[key]
  const template = fieldsOf(at)
  if (template === undefined)
    throw keelsonError(
      'pod.invalid',
      `${origin}: ${path.join('.')} is missing; a ${kind} carries its pod there`,
    )
  const outer = fieldsOf(object['metadata']) ?? {}
  const inner = fieldsOf(template['metadata']) ?? {}
  const metadata = {
    ...inner,
    name: inner['name'] ?? outer['name'],
    namespace: inner['namespace'] ?? outer['namespace'],
  }
  return { origin, pod: { ...template, kind: 'Pod', metadata } }
}

function describe(kind: string, object: Fields): string {
  const name = fieldsOf(object['metadata'])?.['name']
  return typeof name === 'string' && name !== '' ? `${kind} ${name}` : kind
}

const fieldsOf = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined
