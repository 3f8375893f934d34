// The environment of a container, its command and its arguments. From weak to strong: services, objects of envFrom in their
// order, then the variables of env, each of which may refer to what came before it. What is missing and not optional keeps the
// container from starting, in upstream's words.
import type { ContainerSpec, EnvVar, FileKey, ObjectKey, PodSpec } from '../../../core/pod/spec/spec.js'
import type { ResourceList } from '../../../core/units/resource-list.js'
import { envFileValue } from './env-file.js'
import { expandReferences } from './expand.js'
import { resourceFieldValue } from './resource-field.js'

export type ObjectValues = ReadonlyMap<string, string>

/** What the variables of a container are taken from, read before. Objects by name, of the pod's namespace. */
export interface EnvSources {
  readonly configMaps: ReadonlyMap<string, ObjectValues>
  readonly secrets: ReadonlyMap<string, ObjectValues>
  /** By `fileId`. Undefined or missing: it cannot be read. */
  readonly files: ReadonlyMap<string, string>
  /** Variables of the services that the pod may know. */
  readonly services: ObjectValues
}

export const noSources: EnvSources = {
  configMaps: new Map(),
  secrets: new Map(),
  files: new Map(),
  services: new Map(),
}

interface EnvFacts {
  readonly nodeName: string
  readonly hostIPs: readonly string[]
  readonly podIPs: readonly string[]
  /** Of the node: the limit of what has none. */
  readonly allocatable: ResourceList
}

export interface ContainerWords {
  readonly env: readonly { readonly key: string; readonly value: string }[]
  readonly command: readonly string[]
  readonly args: readonly string[]
}

/** Why a container cannot be configured: CreateContainerConfigError. */
class ConfigProblem extends Error {}

export const fileId = ({ volume, path }: FileKey): string => `${volume}/${path}`

/** A text: why the container cannot be configured. */
export function containerWords(
  spec: PodSpec,
  container: ContainerSpec,
  facts: EnvFacts,
  sources: EnvSources,
): ContainerWords | string {
  try {
    return words(spec, container, facts, sources)
  } catch (e) {
    if (e instanceof ConfigProblem) return e.message
    throw e
  }
}

function words(
  spec: PodSpec,
  container: ContainerSpec,
  facts: EnvFacts,
  sources: EnvSources,
): ContainerWords {
  const values = new Map<string, string>()
  const lookUp = (name: string): string | undefined => values.get(name) ?? sources.services.get(name)
  for (const { kind, object, optional, prefix } of container.envFrom)
    for (const [key, value] of objectOf(kind, object, optional, sources) ?? [])
      values.set(`${prefix}${key}`, value)
  for (const variable of container.env) {
    const value =
      'value' in variable
        ? expandReferences(variable.value, lookUp)
        : valueFrom(variable, spec, container, facts, sources)
    // A name that is set again keeps its place and gets the later value.
    if (value !== undefined) values.set(variable.name, value)
  }
  for (const [name, value] of sources.services) if (!values.has(name)) values.set(name, value)
  return {
    env: [...values].map(([key, value]) => ({ key, value })),
    command: container.command.map((word) => expandReferences(word, lookUp)),
    args: container.args.map((word) => expandReferences(word, lookUp)),
  }
}

/** Undefined: it is optional and not there. */
function valueFrom(
  variable: Exclude<EnvVar, { readonly value: string }>,
  spec: PodSpec,
  container: ContainerSpec,
  facts: EnvFacts,
  sources: EnvSources,
): string | undefined {
  if ('fieldPath' in variable) return fieldValue(spec, variable.fieldPath, facts)
  if ('resource' in variable) {
    const value = resourceFieldValue(spec.pod, container.name, variable.resource, facts.allocatable)
    if (value !== undefined) return value
    throw new ConfigProblem(`container ${variable.resource.container ?? container.name} not found`)
  }
  if ('configMapKey' in variable) return keyValue('configMap', variable.configMapKey, spec, sources)
  if ('secretKey' in variable) return keyValue('secret', variable.secretKey, spec, sources)
  const { fileKey } = variable
  const text = sources.files.get(fileId(fileKey))
  const value = text === undefined ? undefined : envFileValue(text, fileKey.key)
  if (value === undefined) throw new ConfigProblem("couldn't parse env file")
  if (value !== '') return value
  if (fileKey.optional) return undefined
  throw new ConfigProblem(
    `environment variable key ${JSON.stringify(fileKey.key)} not found in file ${JSON.stringify(fileId(fileKey))}`,
  )
}

function objectOf(
  kind: 'configMap' | 'secret',
  name: string,
  optional: boolean,
  sources: EnvSources,
): ObjectValues | undefined {
  const found = (kind === 'configMap' ? sources.configMaps : sources.secrets).get(name)
  if (found === undefined && !optional)
    throw new ConfigProblem(`${kind.toLowerCase()} ${JSON.stringify(name)} not found`)
  return found
}

function keyValue(
  kind: 'configMap' | 'secret',
  { object, key, optional }: ObjectKey,
  { pod }: PodSpec,
  sources: EnvSources,
): string | undefined {
  const found = objectOf(kind, object, optional, sources)
  const value = found?.get(key)
  if (value !== undefined || optional) return value
  const named = kind === 'configMap' ? 'ConfigMap' : 'Secret'
  throw new ConfigProblem(`couldn't find key ${key} in ${named} ${pod.namespace}/${object}`)
}

function fieldValue(spec: PodSpec, path: string, facts: EnvFacts): string {
  const { pod, labels } = spec
  const entry = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path)
  if (entry !== null) return (entry[1] === 'labels' ? labels : pod.annotations).get(entry[2] ?? '') ?? ''
  switch (path) {
    case 'metadata.name':
      return pod.name
    case 'metadata.namespace':
      return pod.namespace
    case 'metadata.uid':
      return pod.uid
    case 'spec.nodeName':
      return facts.nodeName
    case 'spec.serviceAccountName':
      return spec.serviceAccountName
    case 'status.hostIP':
      return facts.hostIPs[0] ?? ''
    case 'status.hostIPs':
      return facts.hostIPs.join(',')
    case 'status.podIP':
      return facts.podIPs[0] ?? ''
    case 'status.podIPs':
      return facts.podIPs.join(',')
    default:
      return ''
  }
}
