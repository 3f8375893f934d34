import { expect, test } from 'vitest'
import { parsePodSpec } from '../../../core/pod/spec/parse.js'
import type { PodSpec } from '../../../core/pod/spec/spec.js'
import { parseQuantity } from '../../../core/units/quantity.js'
import { type AdmissionNode, decideAdmission } from './admission.js'

const amounts = (list: Readonly<Record<string, string>>) =>
  new Map(Object.entries(list).map(([name, text]) => [name, parseQuantity(text)]))
const node: AdmissionNode = {
  name: 'n1',
  labels: { 'kubernetes.io/hostname': 'n1', zone: 'a', cores: '8' },
  taints: [],
  allocatable: amounts({
    cpu: '2',
    memory: '1Gi',
    'ephemeral-storage': '10Gi',
    pods: '4',
    'example.com/gpu': '1',
  }),
  os: 'linux',
  supplementalGroupsPolicy: false,
  allowedUnsafeSysctls: ['kernel.msg*', 'net/core/somaxconn'],
  appArmor: false,
}

type Fields = Readonly<Record<string, unknown>>
let made = 0

function podOf(spec: Fields = {}, requests: Fields = {}, metadata: Fields = {}): PodSpec {
  made += 1
  const name = `pod${made}`
  const limits = spec['guaranteed'] === true ? { limits: requests } : {}
  const { guaranteed: _, ports, ...rest } = spec
  const parsed = parsePodSpec(
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default', uid: name, ...metadata },
      spec: {
        containers: [
          {
            name: 'app',
            image: 'busybox:1',
            resources: { requests, ...limits },
            ...(ports ? { ports } : {}),
          },
        ],
        ...rest,
      },
    },
    'api',
  )
  if (parsed.kind !== 'pod') throw new Error(JSON.stringify(parsed.problems))
  return parsed.spec
}

const decide = (pod: PodSpec, others: readonly PodSpec[] = [], over: Partial<AdmissionNode> = {}) => {
  const decision = decideAdmission({ pod, others, node: { ...node, ...over } })
  return decision.kind === 'rejected'
    ? `${decision.reason}: ${decision.message}`
    : decision.preempts.map(({ pod: { name } }) => name)
}

test('a pod that fits is admitted', () => {
  expect(decide(podOf({}, { cpu: '2', memory: '1Gi' }))).toEqual([])
})

test('requests count beside those of the others, in the units of the scheduler', () => {
  const other = podOf({}, { cpu: '1500m', memory: '512Mi' })
  expect(decide(podOf({}, { cpu: '1' }), [other])).toBe(
    "OutOfcpu: Node didn't have enough resource: cpu, requested: 1000, used: 1500, capacity: 2000",
  )
  expect(decide(podOf({}, { memory: '600Mi' }), [other])).toBe(
    "OutOfmemory: Node didn't have enough resource: memory, requested: 629145600, used: 536870912, capacity: 1073741824",
  )
  expect(decide(podOf({}, { 'example.com/gpu': '2' }))).toMatch(/^OutOfexample\.com\/gpu: /)
})

test('a pod too many; a resource that the node does not know is not its business', () => {
  const four = Array.from({ length: 4 }, () => podOf())
  expect(decide(podOf(), four)).toBe(
    "OutOfpods: Node didn't have enough resource: pods, requested: 1, used: 4, capacity: 4",
  )
  expect(decide(podOf({}, { 'example.com/fpga': '1' }))).toEqual([])
  expect(decide(podOf({}, { 'hugepages-2Mi': '4Mi', memory: '4Mi' }))).toMatch(/^OutOfhugepages-2Mi: /)
})

const required = (...nodeSelectorTerms: readonly Fields[]): Fields => ({
  affinity: {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  },
})
const expression = (key: string, operator: string, ...values: readonly string[]): Fields => ({
  matchExpressions: [{ key, operator, values }],
})
const noAffinity =
  "NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"

for (const [name, spec, admitted] of [
  ['nodeSelector that matches', { nodeSelector: { zone: 'a' } }, true],
  ['nodeSelector that does not', { nodeSelector: { zone: 'b' } }, false],
  ['In', required(expression('zone', 'In', 'b', 'a')), true],
  ['NotIn', required(expression('zone', 'NotIn', 'a')), false],
  ['NotIn of a label that is not there', required(expression('disk', 'NotIn', 'ssd')), true],
  ['Exists', required(expression('zone', 'Exists')), true],
  ['DoesNotExist', required(expression('zone', 'DoesNotExist')), false],
  ['Gt', required(expression('cores', 'Gt', '7')), true],
  ['Lt', required(expression('cores', 'Lt', '8')), false],
  ['Gt of what is no number', required(expression('zone', 'Gt', '7')), false],
  ['one of two terms', required(expression('zone', 'In', 'b'), expression('zone', 'In', 'a')), true],
  ['a term without conditions', required({}), false],
  [
    'the name of the node',
    required({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }),
    true,
  ],
] as const)
  test(`affinity: ${name}`, () => {
    expect(decide(podOf(spec))).toEqual(admitted ? [] : noAffinity)
  })

test('of taints only NoExecute counts, and not for static pods', () => {
  const taints = [
    { key: 'a', effect: 'NoSchedule' },
    { key: 'b', value: 'x', effect: 'NoExecute' },
  ]
  const refused =
    "TaintToleration: Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate"
  expect(decide(podOf(), [], { taints })).toBe(refused)
  const tolerating = (toleration: Fields) => decide(podOf({ tolerations: [toleration] }), [], { taints })
  expect(tolerating({ key: 'b', value: 'x' })).toEqual([])
  expect(tolerating({ key: 'b', operator: 'Exists', effect: 'NoExecute' })).toEqual([])
  expect(tolerating({ operator: 'Exists' })).toEqual([])
  expect(tolerating({ key: 'b', value: 'y' })).toBe(refused)
  expect(tolerating({ key: 'b', operator: 'Exists', effect: 'NoSchedule' })).toBe(refused)
  const fromFile = { annotations: { 'kubernetes.io/config.source': 'file' } }
  expect(decide(podOf({}, {}, fromFile), [], { taints })).toEqual([])
})

test('a host port is given once, by address and protocol', () => {
  const port = (over: Fields = {}) => podOf({ ports: [{ containerPort: 80, hostPort: 8080, ...over }] })
  const taken =
    "NodePorts: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"
  expect(decide(port(), [port()])).toBe(taken)
  expect(decide(port({ hostIP: '192.0.2.1' }), [port()])).toBe(taken)
  expect(decide(port({ hostIP: '192.0.2.1' }), [port({ hostIP: '192.0.2.2' })])).toEqual([])
  expect(decide(port({ protocol: 'UDP' }), [port()])).toEqual([])
})

const sysctls = (...names: readonly string[]): Fields => ({
  securityContext: { sysctls: names.map((name) => ({ name, value: '1' })) },
})

test('sysctls: safe ones, allowed ones, and none of the host', () => {
  expect(decide(podOf(sysctls('kernel.shm_rmid_forced', 'kernel.msgmax', 'net.core.somaxconn')))).toEqual([])
  expect(decide(podOf(sysctls('kernel/sem')))).toBe(
    'SysctlForbidden: forbidden sysctl: "kernel.sem" not allowlisted',
  )
  expect(decide(podOf({ ...sysctls('net.ipv4.tcp_syncookies'), hostNetwork: true }))).toBe(
    'SysctlForbidden: forbidden sysctl: "net.ipv4.tcp_syncookies" not allowed with host Net enabled',
  )
})

test('another operating system, and groups that the runtime cannot keep apart', () => {
  expect(decide(podOf({ os: { name: 'windows' } }))).toMatch(/^PodOSNotSupported: /)
  expect(decide(podOf({}, {}, { labels: { 'kubernetes.io/os': 'windows' } }))).toMatch(
    /^PodOSSelectorNodeLabelDoesNotMatch: /,
  )
  const strict = podOf({ securityContext: { supplementalGroupsPolicy: 'Strict' } })
  expect(decide(strict)).toBe(
    'SupplementalGroupsPolicyNotSupported: SupplementalGroupsPolicy=Strict is not supported in this node',
  )
  expect(decide(strict, [], { supplementalGroupsPolicy: true })).toEqual([])
})

const critical = (requests: Fields, more: Fields = {}) =>
  podOf({ priority: 2_000_000_000, ...more }, requests)

test('a critical pod that lacks resources preempts: the least important first, and as few as it can', () => {
  const bestEffort = podOf()
  const small = podOf({}, { cpu: '500m' })
  const large = podOf({}, { cpu: '1' })
  const guaranteed = podOf({ guaranteed: true }, { cpu: '500m', memory: '100Mi' })
  const others = [guaranteed, large, small, bestEffort]
  expect(decide(critical({ cpu: '1' }), others)).toEqual([large.pod.name])
  expect(decide(critical({ cpu: '2' }), others)).toEqual([
    large.pod.name,
    small.pod.name,
    guaranteed.pod.name,
  ])
})

test('a critical pod preempts no other critical pod, and none when it cannot run anyway', () => {
  const other = critical({ cpu: '2' })
  expect(decide(critical({ cpu: '1' }), [other])).toBe(
    'UnexpectedAdmissionError: Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [(res: cpu, q: 1000), ]',
  )
  expect(decide(critical({ cpu: '2' }, { nodeSelector: { zone: 'b' } }), [podOf({}, { cpu: '1' })])).toBe(
    noAffinity,
  )
})

test('an AppArmor profile needs a kernel that enforces it', () => {
  const profile = (type: string): Fields => ({ securityContext: { appArmorProfile: { type } } })
  const refused = 'AppArmor: Cannot enforce AppArmor: AppArmor is not enabled on the host'
  expect(decide(podOf(profile('RuntimeDefault')))).toBe(refused)
  expect(decide(podOf(profile('Unconfined')))).toEqual([])
  expect(decide(podOf(profile('RuntimeDefault')), [], { appArmor: true })).toEqual([])
  const container = { name: 'app', image: 'busybox:1', ...profile('RuntimeDefault') }
  expect(decide(podOf({ containers: [container] }))).toBe(refused)
})
