// Static pod manifests: broken documents and broken text through reading, identity, a plan of values, what the runtime is
// told, the turns of a whole life against a made-up runtime, and the status. Either every problem is named or the pod rests.

import { asKeelsonError, keelsonError } from '../../../src/core/errors.js'
import { formatPodProblems, parsePodSpec } from '../../../src/core/pod/spec/parse.js'
import { allContainerSpecs, type PodSpec } from '../../../src/core/pod/spec/spec.js'
import { identifyStaticPod } from '../../../src/kubelet/pods/decide/static-pod.js'
import { podStatus } from '../../../src/kubelet/pods/decide/status/status.js'
import { type ManifestProblem, readPodSpecs } from '../../../src/kubelet/pods/source/static-source.js'
import { liveThrough } from '../../support/made-up-runtime.js'
import { tellRuntime, wordsOf } from '../../support/told-runtime.js'
import { mutateText, type Random } from '../random.js'
import { check, type FuzzTarget } from '../types.js'

const odd = [
  null,
  undefined,
  0,
  -1,
  1.5,
  Number.NaN,
  true,
  '',
  'x',
  [],
  {},
  [[]],
  [null],
  10n ** 30n,
  '\0',
] as const

const full = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', labels: { app: 'w' }, annotations: { 'a/b': 'c' } },
  spec: {
    restartPolicy: 'OnFailure',
    terminationGracePeriodSeconds: 5,
    hostNetwork: false,
    hostname: 'h',
    dnsPolicy: 'None',
    dnsConfig: { nameservers: ['1.1.1.1'], searches: ['x.y'], options: [{ name: 'ndots', value: '2' }] },
    hostAliases: [{ ip: '10.1.1.1', hostnames: ['a.b'] }],
    securityContext: { runAsUser: 1, fsGroup: 2, seccompProfile: { type: 'RuntimeDefault' } },
    volumes: [
      { name: 'e', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
      { name: 'h', hostPath: { path: '/srv', type: 'Directory' } },
    ],
    initContainers: [
      { name: 'i', image: 'a/b:1', command: ['x'] },
      { name: 's', image: 'a/b:1', restartPolicy: 'Always' },
    ],
    containers: [
      {
        name: 'app',
        image: 'a/b:1',
        args: ['$(A)', '$$(A)'],
        env: [
          { name: 'A', value: '$(B)' },
          { name: 'N', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          { name: 'M', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } } },
          {
            name: 'F',
            valueFrom: { fileKeyRef: { volumeName: 'e', path: 'a/b', key: 'K', optional: true } },
          },
        ],
        ports: [{ name: 'p', containerPort: 80, hostPort: 8080, protocol: 'TCP' }],
        resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '128Mi' } },
        volumeMounts: [{ name: 'e', mountPath: '/e' }],
        securityContext: { capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] }, privileged: false },
      },
      { name: 'b', image: 'a/b:1' },
    ],
  },
}

/** A copy with a few places changed: dropped, replaced by something odd, renamed, or with edited text. */
export function mutate(value: unknown, random: Random, percent: number): unknown {
  if (random.chance(percent)) return odd[random.below(odd.length)]
  if (typeof value === 'string') return random.chance(percent) ? mutateText(value, random) : value
  if (Array.isArray(value))
    return value.filter(() => !random.chance(percent)).map((entry) => mutate(entry, random, percent))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(() => !random.chance(percent))
      .map(([key, entry]) => [
        random.chance(percent) ? mutateText(key, random) : key,
        mutate(entry, random, percent),
      ]),
  )
}

let hashes = 0
const digest = (): string => (hashes++).toString(16).padStart(32, '0')

function follow(spec: PodSpec): void {
  const origin = { file: '/m/x.yaml', nodeName: 'n', seenAt: 't', resize: 'InPlace', digest } as const
  const pod = identifyStaticPod(spec, origin)
  check(/^[0-9a-f]{32}$/.test(pod.pod.uid), 'the uid is not 32 hexadecimal digits')
  for (const container of allContainerSpecs(pod)) wordsOf(pod, container)
  for (const value of tellRuntime(pod, pod.labels.size === 0 ? 1 : 2).podValues)
    check(/^(max|-?\d{1,19}|(max|\d{1,19}) \d+)$/.test(value), `a pod's cgroup would be given ${value}`)
  const { observed, nowNanos, settled } = liveThrough(pod, 200)
  check(settled, 'the pod never comes to rest')
  podStatus({
    spec: pod,
    observed,
    waiting: new Map(),
    sandboxProblem: undefined,
    hostIPs: [],
    startedAtNanos: nowNanos,
    runtimeName: 'r',
    nowNanos,
    before: undefined,
  })
}

/** At the edges of what a number can be, here and on the wire. */
const extremes = [
  '0',
  '1n',
  '1u',
  '9223372036854775807',
  '9223372036854775806',
  '9E',
  '8Ei',
  '7E',
  '1e18',
] as const

function withAmounts(random: Random): typeof full {
  const amount = (): string => random.pick(extremes)
  const [app, ...others] = full.spec.containers
  const resources = {
    requests: { cpu: amount(), memory: amount() },
    limits: { cpu: amount(), memory: amount() },
  }
  return { ...full, spec: { ...full.spec, containers: [{ ...app, resources } as never, ...others] } }
}

const asText = (document: unknown, random: Random): string => {
  const plain = (_: string, v: unknown): unknown => (typeof v === 'bigint' ? v.toString() : v)
  const text = JSON.stringify(document, plain, random.chance(50) ? 1 : 0) ?? ''
  return random.chance(50) ? mutateText(text, random) : text
}

function runDocument(input: unknown): void {
  const parsed = parsePodSpec(input)
  if (parsed.kind === 'problems') {
    check(parsed.problems.length > 0, 'refused without a problem')
    throw keelsonError('pod.invalid', formatPodProblems(parsed.problems))
  }
  follow(parsed.spec)
}

export const manifests: FuzzTarget = {
  name: 'manifests',
  generate(random) {
    const document = mutate(
      random.chance(10) ? withAmounts(random) : full,
      random,
      random.pick([0, 1, 1, 2, 5]),
    )
    return random.chance(20) ? asText(document, random) : document
  },
  run(input) {
    if (typeof input !== 'string') return runDocument(input)
    const lines = input.split(/\r\n?|\n/).length
    try {
      for (const spec of readPodSpecs('/m/x.yaml', new TextEncoder().encode(input))) follow(spec)
    } catch (e) {
      const { problems = [] } = asKeelsonError(e).details as {
        readonly problems?: readonly ManifestProblem[]
      }
      for (const { line } of problems)
        check(line >= 1 && line <= lines, `a problem is said to be in line ${line} of ${lines}`)
      throw e
    }
  },
}
