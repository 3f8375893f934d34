// A whole manifest to a pod that can be run, or every problem that it has. Nothing is dropped silently: a field is read,
// refused by name, known to mean nothing here, or unknown and said to be so.
import { isKeelsonError } from '../../errors.js'
import type { Problem } from '../../units/problem.js'
import { applyPodDefaults } from '../defaults.js'
import { parsePod } from '../parse-pod.js'
import type { PodResources } from '../pod.js'
import { impossibleAmounts, podProblems } from '../problems.js'
import { readContainer } from './container.js'
import { FieldReader, type PodOrigin } from './read-fields.js'
import {
  clusterPodFields,
  ignoredMetadata,
  ignoredPodFields,
  refusedMetadata,
  refusedPodFields,
} from './refused.js'
import { readPodSecurity } from './security.js'
import type { DnsSpec, HostAlias, PodSpec, RestartPolicy } from './spec.js'
import { readVolumes } from './volumes.js'

type ParsedPodSpec =
  | { readonly kind: 'pod'; readonly spec: PodSpec }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] }

const subdomain = {
  required: true,
  pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
  looksLike: 'lower case letters, digits, dashes and dots',
  maxLength: 253,
}
const dnsLabel = {
  pattern: /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
  looksLike: 'at most 63 lower case letters, digits and dashes',
}
const maxInt32 = 2 ** 31 - 1

/** The input is one object of kind Pod. */
export function parsePodSpec(input: unknown, origin: PodOrigin = 'file'): ParsedPodSpec {
  const problems: Problem[] = []
  const holder = new FieldReader({ pod: input }, '', problems, origin)
  const top = holder.object('pod')
  if (top === undefined) {
    if (problems.length === 0) holder.problem('', 'the document is empty', 'write a Pod')
    return { kind: 'problems', problems }
  }
  const root = new FieldReader(input as Readonly<Record<string, unknown>>, '', problems, origin)
  const spec = readDocument(root, input as Readonly<Record<string, unknown>>, problems)
  return spec === undefined || problems.length > 0 ? { kind: 'problems', problems } : { kind: 'pod', spec }
}

function readDocument(
  root: FieldReader,
  input: Readonly<Record<string, unknown>>,
  problems: Problem[],
): PodSpec | undefined {
  const apiVersion = root.text('apiVersion', { required: true })
  if (apiVersion !== undefined && apiVersion !== 'v1')
    root.problem('apiVersion', `is ${apiVersion.slice(0, 80)}`, 'use v1')
  const kind = root.text('kind', { required: true })
  if (kind !== undefined && kind !== 'Pod')
    root.problem('kind', `is ${kind.slice(0, 80)}`, 'only Pod is run here')
  // Tools write an empty status; what a pod's status is, the node says.
  root.ignore(['status'])
  const metadata = root.object('metadata')
  const given = root.object('spec')
  root.close()
  const names = readMetadata(root, metadata)
  if (given === undefined) {
    if (root.raw('spec') === undefined) root.problem('spec', 'is missing', 'name at least one container')
    return undefined
  }
  const spec = readSpec(given)
  const pod = readResources(input, problems)
  if (pod === undefined) return undefined
  refuseRepeated(spec, given)
  return { ...spec, pod, labels: names, document: documentOf(input) }
}

function readMetadata(root: FieldReader, metadata: FieldReader | undefined): ReadonlyMap<string, string> {
  if (metadata === undefined) {
    if (root.raw('metadata') === undefined) root.problem('metadata', 'is missing', 'give the pod a name')
    return new Map()
  }
  metadata.refuseInFile(refusedMetadata)
  metadata.ignore([...ignoredMetadata, ...Object.keys(refusedMetadata)])
  metadata.text('name', subdomain)
  metadata.text('namespace', dnsLabel)
  const labels = metadata.textMap('labels')
  const annotations = metadata.textMap('annotations')
  for (const [map, key] of [
    [labels, 'labels'],
    [annotations, 'annotations'],
  ] as const)
    for (const [name, value] of map) {
      if (!/^([a-z0-9.-]{1,253}\/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/.test(name))
        metadata.problem(
          `${key}[${JSON.stringify(name.slice(0, 80))}]`,
          'is not a valid key',
          'write prefix/name',
        )
      if (key === 'labels' && !/^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$/.test(value))
        metadata.problem(
          `labels[${JSON.stringify(name.slice(0, 80))}]`,
          'is not a valid label value',
          'shorten it',
        )
    }
  metadata.close()
  return labels
}

function readSpec(given: FieldReader): Omit<PodSpec, 'pod' | 'labels' | 'document'> {
  given.refuse(refusedPodFields)
  given.refuseInFile(clusterPodFields)
  given.ignore([
    ...ignoredPodFields,
    'serviceAccount',
    'nodeName',
    'overhead',
    'resources',
    'priority',
    'priorityClassName',
  ])
  const os = given.object('os')
  // A pod of the API server is rejected when it is admitted, with a reason of its own.
  if (os?.choice('name', ['linux', 'windows']) === 'windows' && given.origin === 'file')
    os.problem('name', 'is windows', 'this node runs Linux')
  os?.close()
  if (given.flag('hostUsers') === false)
    given.problem('hostUsers', 'false is not supported', 'remove it; user namespaces are not handled yet')
  const hostNetwork = given.flag('hostNetwork') ?? false
  const volumes = readVolumes(given)
  const containers = given.objects('containers').map((c) => readContainer(c, 'app', volumes, hostNetwork))
  const initContainers = given
    .objects('initContainers')
    .map((c) => readContainer(c, 'init', volumes, hostNetwork))
  const ephemeralContainers = given
    .objects('ephemeralContainers')
    .map((c) => readContainer(c, 'ephemeral', volumes, hostNetwork))
  const hostPID = given.flag('hostPID') ?? false
  const shareProcessNamespace = given.flag('shareProcessNamespace') ?? false
  if (hostPID && shareProcessNamespace)
    given.problem('shareProcessNamespace', 'is given beside hostPID', 'keep one')
  const spec = {
    restartPolicy: given.choice<RestartPolicy>('restartPolicy', ['Always', 'OnFailure', 'Never']) ?? 'Always',
    terminationGracePeriodSeconds:
      given.whole('terminationGracePeriodSeconds', { min: 0, max: maxInt32 }) ?? 30,
    activeDeadlineSeconds: given.whole('activeDeadlineSeconds', { min: 1, max: maxInt32 }),
    readinessGates: readReadinessGates(given),
    hostNetwork,
    hostPID,
    hostIPC: given.flag('hostIPC') ?? false,
    shareProcessNamespace,
    hostname: given.text('hostname', dnsLabel),
    hostnameOverride: given.text('hostnameOverride', { ...subdomain, required: false }),
    subdomain: given.text('subdomain', dnsLabel),
    setHostnameAsFQDN: given.flag('setHostnameAsFQDN') ?? false,
    hostAliases: readHostAliases(given),
    dns: readDns(given),
    // The deprecated name of the same field; the API server keeps both.
    serviceAccountName: given.text('serviceAccountName') ?? given.text('serviceAccount') ?? '',
    runtimeClassName: given.text('runtimeClassName', { ...subdomain, required: false }),
    imagePullSecrets: readPullSecrets(given),
    enableServiceLinks: given.flag('enableServiceLinks') ?? true,
    security: readPodSecurity(given),
    volumes,
    initContainers,
    containers,
    ephemeralContainers,
  }
  given.close()
  return spec
}

function readReadinessGates(given: FieldReader): readonly string[] {
  return given.objects('readinessGates').flatMap((gate) => {
    const type = gate.text('conditionType', { required: true, maxLength: 317 })
    gate.close()
    return type ?? []
  })
}

function readPullSecrets(given: FieldReader): readonly string[] {
  return given.objects('imagePullSecrets').flatMap((entry) => {
    const name = entry.text('name', { ...subdomain, required: false })
    entry.close()
    return name === undefined ? [] : [name]
  })
}

function readHostAliases(given: FieldReader): readonly HostAlias[] {
  return given.objects('hostAliases').flatMap((entry) => {
    const ip = entry.text('ip', {
      required: true,
      pattern: /^[0-9A-Fa-f.:]{2,45}$/,
      looksLike: 'an IP address',
    })
    const hostnames = entry.texts('hostnames')
    if (hostnames.some((name) => !/^[A-Za-z0-9.-]{1,253}$/.test(name)))
      entry.problem('hostnames', 'holds something that is no host name', 'write names only')
    entry.close()
    return ip === undefined ? [] : [{ ip, hostnames }]
  })
}

function readDns(given: FieldReader): DnsSpec {
  const policies = ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'] as const
  const policy = given.choice('dnsPolicy', policies) ?? 'ClusterFirst'
  const config = given.object('dnsConfig')
  const nameservers = config?.texts('nameservers') ?? []
  const searches = config?.texts('searches') ?? []
  for (const [key, words] of [
    ['nameservers', nameservers],
    ['searches', searches],
  ] as const)
    if (words.some((word) => !/^[A-Za-z0-9._:-]{1,253}$/.test(word)))
      config?.problem(key, 'holds something that is neither a name nor an address', 'fix it')
  const options = (config?.objects('options') ?? []).flatMap((entry) => {
    const name = entry.text('name', {
      required: true,
      pattern: /^[A-Za-z0-9-]{1,64}$/,
      looksLike: 'an option',
    })
    const value = entry.text('value', { pattern: /^[A-Za-z0-9-]{1,64}$/, looksLike: 'a number or word' })
    entry.close()
    return name === undefined ? [] : [value === undefined ? name : `${name}:${value}`]
  })
  config?.close()
  if (policy === 'None' && nameservers.length === 0)
    given.problem('dnsPolicy', 'is None, and dnsConfig names no server', 'give dnsConfig.nameservers')
  return { policy, nameservers, searches, options }
}

/** cpu, memory and the rest of pod.ts; its reader stops at the first fault, which is named here with the others. */
function readResources(input: unknown, problems: Problem[]): PodResources | undefined {
  try {
    const pod = applyPodDefaults(parsePod(input))
    problems.push(...podProblems(pod), ...impossibleAmounts(pod))
    return pod
  } catch (e) {
    if (!isKeelsonError(e)) throw e
    const path = typeof e.details['path'] === 'string' ? e.details['path'] : ''
    const known = problems.some((p) => path !== '' && path !== 'spec' && p.path === path)
    if (!known) problems.push({ path, message: e.message, remedy: 'fix it' })
    return undefined
  }
}

type Read = Omit<PodSpec, 'pod' | 'labels' | 'document'>

function refuseRepeated(spec: Read, given: FieldReader): void {
  const ports = new Set<string>()
  for (const container of [...spec.initContainers, ...spec.containers])
    for (const { hostPort, hostIP, protocol } of container.ports) {
      if (hostPort === 0) continue
      const key = `${protocol} ${hostIP === '' ? '0.0.0.0' : hostIP}:${hostPort}`
      if (ports.has(key))
        given.problem('containers', `take ${key} of the host twice`, 'choose another hostPort')
      ports.add(key)
    }
}

function documentOf(input: Readonly<Record<string, unknown>>): PodSpec['document'] {
  const part = (key: string) => (input[key] ?? {}) as Readonly<Record<string, unknown>>
  return { metadata: part('metadata'), spec: part('spec') }
}

export const formatPodProblems = (problems: readonly Problem[]): string =>
  problems.map((p) => `${p.path === '' ? 'pod' : p.path}: ${p.message}; ${p.remedy}`).join('\n')
