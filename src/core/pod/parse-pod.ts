// Untyped input (from YAML or JSON) to a Pod. Refuses what no node agent could act on, naming the path; what
// the API server alone would refuse (a request above its limit) passes, because decisions must survive it.
import { isKeelsonError, keelsonError } from '../errors.js'
import { parseQuantity, type Quantity } from '../units/quantity.js'
import {
  noRequirements,
  noResources,
  type ResourceList,
  type ResourceRequirements,
} from '../units/resource-list.js'
import { type Container, type ContainerType, type PodResources, type QosClass, qosClasses } from './pod.js'

type Fields = Readonly<Record<string, unknown>>

const maxContainers = 10_000
const maxNanos = (2n ** 63n - 1n) * 1_000_000_000n

/** The input is one Pod object: `{metadata, spec, status}`. */
export function parsePod(input: unknown): PodResources {
  const pod = fields(input, 'pod')
  if (pod === undefined) throw invalid('pod', 'is empty', 'give an object with metadata and spec')
  const metadata = fields(pod['metadata'], 'metadata') ?? {}
  const spec = fields(pod['spec'], 'spec') ?? {}
  const status = fields(pod['status'], 'status') ?? {}
  const result: PodResources = {
    name: text(metadata['name'], 'metadata.name') ?? '',
    namespace: text(metadata['namespace'], 'metadata.namespace') ?? 'default',
    uid: text(metadata['uid'], 'metadata.uid') ?? '',
    annotations: annotations(metadata['annotations']),
    initContainers: containers(spec['initContainers'], 'spec.initContainers', 'init'),
    containers: containers(spec['containers'], 'spec.containers', 'app'),
    ephemeralContainers: containers(spec['ephemeralContainers'], 'spec.ephemeralContainers', 'ephemeral'),
    overhead: parseResourceList(spec['overhead'], 'spec.overhead'),
    resources: requirements(spec['resources'], 'spec.resources'),
    priority: wholeNumber(spec['priority'], 'spec.priority'),
    priorityClassName: text(spec['priorityClassName'], 'spec.priorityClassName') ?? '',
    qosClass: qosClass(status['qosClass']),
    phase: text(status['phase'], 'status.phase') ?? '',
  }
  refuseRepeatedNames(result)
  return result
}

function containers(value: unknown, path: string, type: ContainerType): readonly Container[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw invalid(path, 'is not a list', 'write a list of containers')
  if (value.length > maxContainers) {
    throw invalid(path, `has ${value.length} entries`, `keep it to ${maxContainers}`)
  }
  return value.map((entry: unknown, index) => container(entry, `${path}[${index}]`, type))
}

function container(value: unknown, path: string, type: ContainerType): Container {
  const given = fields(value, path) ?? {}
  const name = text(given['name'], `${path}.name`)
  if (name === undefined || name === '') throw invalid(`${path}.name`, 'is missing', 'name the container')
  const restarts = text(given['restartPolicy'], `${path}.restartPolicy`)
  return {
    name,
    type: type === 'init' && restarts === 'Always' ? 'sidecar' : type,
    resources: requirements(given['resources'], `${path}.resources`) ?? noRequirements,
  }
}

function requirements(value: unknown, path: string): ResourceRequirements | undefined {
  const given = fields(value, path)
  if (given === undefined) return undefined
  return {
    requests: parseResourceList(given['requests'], `${path}.requests`),
    limits: parseResourceList(given['limits'], `${path}.limits`),
  }
}

/** Also for reservations in a configuration file, which have the same shape. */
export function parseResourceList(value: unknown, path: string): ResourceList {
  const given = fields(value, path)
  if (given === undefined) return noResources
  const list = new Map<string, Quantity>()
  for (const [name, amount] of Object.entries(given)) {
    if (amount !== null && amount !== undefined) list.set(name, resourceAmount(amount, `${path}.${name}`))
  }
  return list
}

function resourceAmount(value: unknown, path: string): Quantity {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') {
    throw invalid(path, 'is not a quantity', 'write a number with an optional suffix, for example 128Mi')
  }
  const quantity = readQuantity(String(value).trim(), path)
  if (quantity.nanos < 0n) throw invalid(path, `is negative (${value})`, 'write 0 or more')
  if (quantity.nanos > maxNanos) {
    throw invalid(path, `is above 2^63-1 (${value})`, 'write an amount that a node can have')
  }
  return quantity
}

function readQuantity(given: string, path: string): Quantity {
  try {
    return parseQuantity(given)
  } catch (e) {
    if (!isKeelsonError(e)) throw e
    throw keelsonError('pod.invalid', `${path}: ${e.message}`, { path }, e)
  }
}

function annotations(value: unknown): ReadonlyMap<string, string> {
  const given = fields(value, 'metadata.annotations')
  const result = new Map<string, string>()
  for (const [key, entry] of Object.entries(given ?? {})) {
    result.set(key, text(entry, `metadata.annotations[${JSON.stringify(key)}]`) ?? '')
  }
  return result
}

function qosClass(value: unknown): QosClass | undefined {
  const given = text(value, 'status.qosClass')
  if (given === undefined || given === '') return undefined
  const known = qosClasses.find((name) => name === given)
  if (known === undefined) {
    throw invalid('status.qosClass', `is ${JSON.stringify(given)}`, `use one of ${qosClasses.join(', ')}`)
  }
  return known
}

function wholeNumber(value: unknown, path: string): number | undefined {
  if (value === undefined || value === null) return undefined
  const n = typeof value === 'bigint' ? Number(value) : value
  if (typeof n !== 'number' || !Number.isSafeInteger(n)) {
    throw invalid(path, 'is not a whole number', 'write digits without quotes')
  }
  return n
}

function text(value: unknown, path: string): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw invalid(path, 'is not a text', 'put the value in quotes')
  return value
}

function fields(value: unknown, path: string): Fields | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw invalid(path, 'is not an object', 'write it as keys and values')
  }
  return value as Fields
}

function refuseRepeatedNames(pod: PodResources): void {
  const seen = new Set<string>()
  for (const { name } of [...pod.initContainers, ...pod.containers, ...pod.ephemeralContainers]) {
    if (seen.has(name))
      throw invalid('spec', `names the container ${JSON.stringify(name)} twice`, 'rename one')
    seen.add(name)
  }
}

const invalid = (path: string, what: string, remedy: string) =>
  keelsonError('pod.invalid', `${path} ${what}; ${remedy}`, { path })
