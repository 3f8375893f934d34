// One container of a manifest: everything but its cpu and memory, which parse-pod.ts reads.
import { readEnv, readEnvFrom } from './env.js'
import { readHooks, readProbes, readRestartRules } from './handlers.js'
import { defaultPull } from './image-reference.js'
import type { FieldReader } from './read-fields.js'
import { clusterContainerFields, refusedContainerFields } from './refused.js'
import { readContainerSecurity } from './security.js'
import type { ContainerPort, ContainerSpec, Protocol, PullPolicy, RestartPolicy } from './spec.js'
import type { Volume } from './volume.js'
import { isPlainPath, readMounts } from './volumes.js'

const nameRule = {
  required: true,
  pattern: /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
  looksLike: 'at most 63 lower case letters, digits and dashes',
}
const ports = { min: 1, max: 65_535 }

export function readContainer(
  given: FieldReader,
  list: 'init' | 'app' | 'ephemeral',
  volumes: readonly Volume[],
  hostNetwork: boolean,
): ContainerSpec {
  given.refuse(refusedContainerFields)
  given.refuseInFile(clusterContainerFields)
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
    ...(list === 'ephemeral' ? { target: given.text('targetContainerName') } : {}),
    image,
    pullPolicy:
      given.choice<PullPolicy>('imagePullPolicy', ['Always', 'IfNotPresent', 'Never']) ?? defaultPull(image),
    command: given.texts('command'),
    args: given.texts('args'),
    workingDir: given.text('workingDir', { maxLength: 4096 }),
    envFrom: readEnvFrom(given),
    env: readEnv(given, volumes),
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

function readResizePolicy(given: FieldReader): void {
  for (const entry of given.objects('resizePolicy')) {
    entry.choice('resourceName', ['cpu', 'memory'])
    if (entry.choice('restartPolicy', ['NotRequired', 'RestartContainer']) === 'RestartContainer')
      entry.problem('restartPolicy', 'RestartContainer is not supported', 'use NotRequired')
    entry.close()
  }
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
