// One container of a manifest: everything but its cpu and memory, which parse-pod.ts reads.
import { readHooks, readProbes, readRestartRules } from './handlers.js'
import { imageTag } from './image-reference.js'
import type { FieldReader } from './read-fields.js'
import { refusedContainerFields, refusedEnvSources } from './refused.js'
import { readContainerSecurity } from './security.js'
import type {
  ContainerPort,
  ContainerSpec,
  EnvVar,
  Protocol,
  PullPolicy,
  RestartPolicy,
  Volume,
} from './spec.js'
import { isPlainPath, readMounts } from './volumes.js'

const nameRule = {
  required: true,
  pattern: /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
  looksLike: 'at most 63 lower case letters, digits and dashes',
}
const ports = { min: 1, max: 65_535 }

export function readContainer(
  given: FieldReader,
  list: 'init' | 'app',
  volumes: readonly Volume[],
  hostNetwork: boolean,
): ContainerSpec {
  given.refuse(refusedContainerFields)
  given.ignore(['resources'])
  const security = readContainerSecurity(given)
  const image = given.text('image', { required: true, maxLength: 4096 }) ?? ''
  if (image !== image.trim()) given.problem('image', 'begins or ends with a blank', 'remove the blank')
  const restartPolicy = given.choice<RestartPolicy>('restartPolicy', ['Always', 'OnFailure', 'Never'])
  const kind = list === 'init' && restartPolicy === 'Always' ? 'sidecar' : list
  const spec: ContainerSpec = {
    name: given.text('name', nameRule) ?? '',
    kind,
    restartPolicy,
    restartRules: readRestartRules(given, restartPolicy !== undefined),
    probes: readProbes(given, kind === 'init'),
    hooks: readHooks(given, kind === 'init'),
    image,
    pullPolicy:
      given.choice<PullPolicy>('imagePullPolicy', ['Always', 'IfNotPresent', 'Never']) ?? defaultPull(image),
    command: given.texts('command'),
    args: given.texts('args'),
    workingDir: given.text('workingDir', { maxLength: 4096 }),
    env: readEnv(given),
    ports: readPorts(given, hostNetwork),
    mounts: readMounts(given, volumes, security.privileged),
    security,
    terminationMessagePath:
      given.text('terminationMessagePath', { maxLength: 4096 }) ?? '/dev/termination-log',
    terminationMessagePolicy:
      given.choice('terminationMessagePolicy', ['File', 'FallbackToLogsOnError']) ?? 'File',
    stdin: given.flag('stdin') ?? false,
    stdinOnce: given.flag('stdinOnce') ?? false,
    tty: given.flag('tty') ?? false,
  }
  if (!isPlainPath(spec.terminationMessagePath))
    given.problem('terminationMessagePath', 'is not an absolute path without ..', 'write the whole path')
  readResizePolicy(given)
  given.close()
  return spec
}

/** As API defaulting does it: what may move is pulled each time. */
const defaultPull = (image: string): PullPolicy => (imageTag(image) === 'latest' ? 'Always' : 'IfNotPresent')

function readResizePolicy(given: FieldReader): void {
  for (const entry of given.objects('resizePolicy')) {
    entry.choice('resourceName', ['cpu', 'memory'])
    if (entry.choice('restartPolicy', ['NotRequired', 'RestartContainer']) === 'RestartContainer')
      entry.problem('restartPolicy', 'RestartContainer is not supported', 'use NotRequired')
    entry.close()
  }
}

function readEnv(given: FieldReader): readonly EnvVar[] {
  return given.objects('env').flatMap((entry): EnvVar[] => {
    const name = entry.text('name', { required: true, maxLength: 4096 })
    if (name?.includes('=')) entry.problem('name', 'holds an equals sign', 'rename the variable')
    const value = entry.raw('value')
    const from = entry.object('valueFrom')
    entry.close()
    if (value !== undefined && typeof value !== 'string')
      entry.problem('value', 'is not a text', 'put the value in quotes')
    if (typeof value === 'string' && value.includes('\0'))
      entry.problem('value', 'holds a NUL character', 'remove it')
    if (from !== undefined && value !== undefined && value !== '')
      entry.problem('valueFrom', 'is given beside value', 'keep one')
    if (name === undefined) return []
    if (from === undefined) return [{ name, value: typeof value === 'string' ? value : '' }]
    const fieldPath = readFieldRef(from)
    return fieldPath === undefined ? [] : [{ name, fieldPath }]
  })
}

const fieldPaths = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]
const mapPath = /^metadata\.(labels|annotations)\['[^']{1,317}'\]$/

function readFieldRef(from: FieldReader): string | undefined {
  from.refuse(refusedEnvSources)
  const ref = from.object('fieldRef')
  from.close()
  if (ref === undefined) return undefined
  const version = ref.text('apiVersion')
  if (version !== undefined && version !== 'v1') ref.problem('apiVersion', `is ${version}`, 'use v1')
  const path = ref.text('fieldPath', { required: true })
  ref.close()
  if (path === undefined || fieldPaths.includes(path) || mapPath.test(path)) return path
  ref.problem('fieldPath', `${path} is not a field that a container can have`, `use ${fieldPaths.join(', ')}`)
  return undefined
}

function readPorts(given: FieldReader, hostNetwork: boolean): readonly ContainerPort[] {
  const names = new Set<string>()
  return given.objects('ports').flatMap((entry) => {
    const containerPort = entry.whole('containerPort', ports)
    const hostPort = entry.whole('hostPort', { min: 0, max: 65_535 }) ?? 0
    const name = entry.text('name', {
      pattern: /^[a-z0-9](?:[a-z0-9-]{0,13}[a-z0-9])?$/,
      looksLike: 'a port name',
    })
    const protocol = entry.choice<Protocol>('protocol', ['TCP', 'UDP', 'SCTP']) ?? 'TCP'
    const hostIP =
      entry.text('hostIP', { pattern: /^[0-9A-Fa-f.:]{2,45}$/, looksLike: 'an IP address' }) ?? ''
    entry.close()
    if (name !== undefined && names.has(name)) entry.problem('name', `${name} is there twice`, 'rename one')
    if (name !== undefined) names.add(name)
    if (containerPort === undefined) {
      if (entry.raw('containerPort') === undefined) entry.problem('containerPort', 'is missing', 'give it')
      return []
    }
    if (hostNetwork && hostPort !== 0 && hostPort !== containerPort)
      entry.problem('hostPort', 'differs from containerPort in a pod on the host network', 'make them equal')
    // On the host's network every port is the host's own.
    return [{ name, containerPort, hostPort: hostNetwork ? containerPort : hostPort, hostIP, protocol }]
  })
}
