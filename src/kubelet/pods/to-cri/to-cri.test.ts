// What the runtime is told of a pod, whole: compared with stored files, one pod with everything and one with nothing.
import { describe, expect, test } from 'vitest'
import { expectGolden } from '../../../../test/support/golden.js'
import { image, specOf } from '../../../../test/support/pod-manifest.js'
import { plainMounts, wordsOf } from '../../../../test/support/told-runtime.js'
import { planPod } from '../../../core/plan/pod-plan.js'
import { allContainerSpecs, type PodSpec } from '../../../core/pod/spec/spec.js'
import { bytes } from '../../../core/units/bytes.js'
import { podNames } from '../../names/decide/hostname.js'
import { podResolvConf } from '../../names/decide/resolv-conf.js'
import { podCgroupValues } from './cgroup-values.js'
import { containerConfig } from './container-config.js'
import { containerResources, hasResources } from './container-resources.js'
import { sandboxConfig } from './sandbox-config.js'

const noCluster = { servers: [], domain: undefined }
const paths = { rootDir: '/var/lib/kubelet', podLogsDir: '/var/log/pods' }

const planOf = (spec: PodSpec, cgroupVersion: 1 | 2) =>
  planPod({
    pod: spec.pod,
    memoryQos: { enabled: true, cgroupVersion, generation: '1.27', factor: 0.9, policy: 'HardReservation' },
    allocatableMemory: bytes(2n ** 32n),
    memoryCapacity: bytes(2n ** 33n),
    pageSize: 4096n,
    cpuQuota: { enforced: true, periodUs: 100_000n },
    swap: { behavior: 'NoSwap', capacity: bytes(0n) },
    singleProcessOOMKill: false,
    runtimeWeightCurve: 'linear',
  })

function resourcesOf(spec: PodSpec, name: string, cgroupVersion: 1 | 2) {
  const container = [...spec.pod.initContainers, ...spec.pod.containers].find((c) => c.name === name)
  const plan = planOf(spec, cgroupVersion).containers.find((c) => c.name === name)
  if (container === undefined || plan === undefined) throw new Error(name)
  return containerResources(container, plan, { cgroupVersion, cpuPeriodUs: 100_000n, enforcesCpuQuota: true })
}

function mapped(spec: PodSpec, seccompDefault = false) {
  return {
    sandbox: sandboxConfig(spec, 2, {
      paths,
      cgroupParent: '/kubepods/burstable/podu1',
      hostname: podNames(spec, undefined).hostname,
      dns: podResolvConf(
        spec,
        { nameservers: ['192.0.2.53'], searches: ['lan'], options: ['edns0'] },
        noCluster,
      ),
      identity: {
        rootDir: '/var/lib/kubelet',
        nodeName: 'n1',
        staticPodPath: '/etc/kubernetes/manifests',
        hasApi: false,
      },
      manifest: '/etc/kubernetes/manifests/web.yaml',
    }),
    containers: allContainerSpecs(spec).map((container) =>
      containerConfig(spec, container, {
        words: wordsOf(spec, container),
        mounts: plainMounts(spec, container),
        targetId: undefined,
        hasHostsFile: true,
        paths,
        attempt: 3,
        imageRef: 'sha256:1234',
        imageUid: undefined,
        imageUser: '',
        resources: resourcesOf(spec, container.name, 2),
        seccompDefault,
      }),
    ),
    cgroupV2: podCgroupValues(spec.pod, planOf(spec, 2), { version: 2, periodUs: 100_000n, pidsLimit: 1024 }),
    cgroupV1: podCgroupValues(spec.pod, planOf(spec, 1), { version: 1, periodUs: 100_000n, pidsLimit: -1 }),
  }
}

const print = (value: unknown): string =>
  `${JSON.stringify(value, (_, v: unknown) => (typeof v === 'bigint' ? v.toString() : v !== null && typeof v === 'object' && 'type' in v && v.type === 'Buffer' && 'data' in v ? Buffer.from(v.data as number[]).toString() : v), 2)}\n`

test('a pod with nothing but a container', () => expectGolden('pods/plain.json', print(mapped(specOf()))))

test('a pod with everything', () => {
  const spec = specOf(
    {
      hostname: 'own',
      terminationGracePeriodSeconds: 7,
      shareProcessNamespace: true,
      dnsConfig: { searches: ['x.example'], options: [{ name: 'ndots', value: '2' }] },
      securityContext: {
        runAsUser: 1000,
        runAsGroup: 2000,
        fsGroup: 3000,
        supplementalGroups: [4000],
        supplementalGroupsPolicy: 'Strict',
        seccompProfile: { type: 'RuntimeDefault' },
        sysctls: [{ name: 'net.ipv4.tcp_syncookies', value: '0' }],
      },
      volumes: [
        { name: 'e', emptyDir: {} },
        { name: 'h', hostPath: { path: '/srv' } },
      ],
      initContainers: [
        { name: 's', image, restartPolicy: 'Always', resources: { limits: { memory: '64Mi' } } },
      ],
      containers: [
        {
          name: 'app',
          image,
          command: ['run'],
          args: ['$(A)'],
          workingDir: '/w',
          env: [
            { name: 'A', value: 'ä' },
            { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
          ],
          ports: [
            { name: 'http', containerPort: 80, hostPort: 8080 },
            { containerPort: 53, protocol: 'UDP' },
          ],
          resources: {
            requests: { cpu: '250m', memory: '64Mi' },
            limits: { cpu: '1', memory: '128Mi', 'hugepages-2Mi': '4Mi' },
          },
          volumeMounts: [
            { name: 'e', mountPath: 'rel' },
            { name: 'h', mountPath: '/h', readOnly: true, mountPropagation: 'HostToContainer' },
          ],
          securityContext: {
            runAsUser: 0,
            capabilities: { add: ['CAP_NET_ADMIN'], drop: ['all'] },
            readOnlyRootFilesystem: true,
            allowPrivilegeEscalation: false,
            seccompProfile: { type: 'Localhost', localhostProfile: 'p.json' },
            appArmorProfile: { type: 'Unconfined' },
          },
          stdin: true,
          tty: true,
        },
      ],
    },
    { labels: { a: 'b' }, annotations: { c: 'd' } },
  )
  expectGolden('pods/everything.json', print(mapped(spec)))
})

test('on the host: no host name, no port mappings', () => {
  const spec = specOf({
    hostNetwork: true,
    hostPID: true,
    hostIPC: true,
    containers: [
      { name: 'app', image, ports: [{ containerPort: 80 }], securityContext: { privileged: true } },
    ],
  })
  const { sandbox, containers } = mapped(spec)
  expect(sandbox).toMatchObject({ hostname: '', portMappings: [] })
  expect(sandbox.linux?.securityContext).toMatchObject({
    privileged: true,
    namespaceOptions: { network: 2, pid: 2, ipc: 2 },
  })
  expect(containers[0]?.mounts?.map((m) => m.containerPath)).toEqual(['/etc/hosts', '/dev/termination-log'])
})

describe('seccompDefault', () => {
  /** The numbers of CRI. */
  const [runtimeDefault, unconfined, localhost] = [0, 1, 2]
  const localProfile = { type: 'Localhost', localhostProfile: 'p.json' }
  for (const [name, pod, container, profile] of [
    ['a container without a profile runs confined', undefined, undefined, runtimeDefault],
    ["the pod's profile counts", { type: 'Unconfined' }, undefined, unconfined],
    ["the container's own profile counts", { type: 'RuntimeDefault' }, localProfile, localhost],
    ['who asks for none has none', undefined, { type: 'Unconfined' }, unconfined],
  ] as const)
    test(name, () => {
      const spec = specOf({
        securityContext: { seccompProfile: pod },
        initContainers: [{ name: 'i', image, securityContext: { seccompProfile: container } }],
        containers: [{ name: 'app', image, securityContext: { seccompProfile: container } }],
      })
      for (const { linux } of mapped(spec, true).containers)
        expect(linux?.securityContext?.seccomp?.profileType).toBe(profile)
      expect(mapped(spec, true).sandbox.linux?.securityContext?.seccomp?.profileType).toBe(runtimeDefault)
    })

  test('without it a container without a profile is not confined', () => {
    const [container] = mapped(specOf()).containers
    expect(container?.linux?.securityContext?.seccomp?.profileType).toBe(unconfined)
  })
})

describe('whether a container has its resources already', () => {
  const spec = specOf({
    containers: [
      { name: 'app', image, resources: { requests: { cpu: '100m' }, limits: { memory: '64Mi' } } },
    ],
  })
  const wanted = resourcesOf(spec, 'app', 2)
  const same = { cpuShares: 102n, cpuQuota: -1n, cpuPeriod: 100_000n, memoryLimit: 67108864n, unified: {} }
  for (const [name, actual, answer] of [
    ['the same', same, true],
    ['no quota, told as 0', { ...same, cpuQuota: 0n }, true],
    ['other memory', { ...same, memoryLimit: 1n }, false],
    ['other shares', { ...same, cpuShares: 2n }, false],
    ['a quota', { ...same, cpuQuota: 5000n }, false],
    ['not told', undefined, undefined],
  ] as const)
    test(name, () => expect(hasResources(wanted, actual)).toBe(answer))

  test('on cgroup v1 nothing is unified', () => expect(resourcesOf(spec, 'app', 1).unified).toEqual({}))
})
