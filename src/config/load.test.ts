import { describe, expect, test } from 'vitest'
import {
  keelson,
  kubelet,
  load,
  problems,
  thrown,
  version,
  warnings,
} from '../../test/support/config-inputs.js'
import { quantityValue } from '../core/units/quantity.js'
import { type ConfigInput, loadConfig, requireConfig } from './load.js'
import { formatOrigin } from './origin.js'

describe('defaults', () => {
  test('nothing given: a complete, frozen configuration of 1.36, profile kep', () => {
    const { config, problems, warnings } = loadConfig({})
    expect(problems).toEqual([])
    expect(warnings).toEqual([])
    expect(config.version).toEqual({ minor: 36, patch: undefined })
    expect(config.profile).toBe('kep')
    expect(config.kubelet).toMatchObject({
      cgroupDriver: 'cgroupfs',
      port: 10250,
      readOnlyPort: 0,
      healthzPort: 10248,
      runtimeRequestTimeout: 120_000,
      enforceNodeAllocatable: ['pods'],
      failCgroupV1: true,
      containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
      authentication: { anonymous: { enabled: false }, webhook: { enabled: true, cacheTTL: 120_000 } },
      authorization: { mode: 'Webhook' },
    })
    expect(config.keelson).toMatchObject({
      ports: { companion: 10251, cri: 10252 },
      staticPodResize: 'Recreate',
      removedFlagPolicy: 'ignore',
    })
    expect(config.memoryQos).toMatchObject({
      enabled: false,
      generation: '1.27',
      factor: undefined,
      policy: 'None',
    })
    expect(() => Object.assign(config.kubelet.authentication.webhook, { enabled: false })).toThrow(TypeError)
    expect(() => Object.assign(config.kubelet.evictionHard, { x: '1' })).toThrow(TypeError)
  })

  test('failCgroupV1 follows the release', () => {
    expect(loadConfig(version('1.34')).config.kubelet.failCgroupV1).toBe(false)
    expect(loadConfig(version('1.35')).config.kubelet.failCgroupV1).toBe(true)
  })

  test("Go's zero values mean not set, where upstream has no pointer", () => {
    const { config, origins } = load(
      'port: 0\nmaxPods: 0\naddress: ""\nruntimeRequestTimeout: 0s\nhealthzPort: 0\n',
    )
    expect(config.kubelet).toMatchObject({
      port: 10250,
      maxPods: 110,
      address: '0.0.0.0',
      runtimeRequestTimeout: 120_000,
      healthzPort: 0,
    })
    expect(origins.port).toEqual({ from: 'default' })
    expect(origins.healthzPort).toEqual({ from: 'file', path: '/etc/k.yaml', line: 7 })
  })

  test('evictionHard replaces the defaults, unless they are to be merged', () => {
    const given = 'evictionHard: {memory.available: 200Mi}\n'
    expect(load(given).config.kubelet.evictionHard).toEqual({ 'memory.available': '200Mi' })
    expect(load(`${given}mergeDefaultEvictionSettings: true\n`).config.kubelet.evictionHard).toMatchObject({
      'memory.available': '200Mi',
      'nodefs.available': '10%',
    })
  })

  test('serializeImagePulls gives way to maxParallelImagePulls', () => {
    expect(load('maxParallelImagePulls: 3\n').config.kubelet.serializeImagePulls).toBe(false)
    expect(problems('maxParallelImagePulls: 3\nserializeImagePulls: true\n')).toEqual([
      expect.stringContaining('serializeImagePulls'),
    ])
  })
})

describe('layers', () => {
  const dropIn = (path: string, body: string) => kubelet(body, path)

  test('default < file < drop-ins in order < flag, each with its origin', () => {
    const body = '# comment\ncgroupDriver: systemd\nport: 10260\n'
    const steps: [ConfigInput, string, string][] = [
      [{}, 'cgroupfs', 'default'],
      [{ kubelet: kubelet(body) }, 'systemd', '/etc/k.yaml:4'],
      [
        {
          kubelet: kubelet(body),
          dropIns: [dropIn('90-b.conf', 'cgroupDriver: b\n'), dropIn('10-a.conf', '\ncgroupDriver: a\n')],
        },
        'b',
        'drop-in 90-b.conf:3',
      ],
      [
        {
          kubelet: kubelet(body),
          dropIns: [dropIn('1.conf', 'cgroupDriver: a\n')],
          flags: ['--cgroup-driver=c'],
        },
        'c',
        'flag --cgroup-driver',
      ],
    ]
    for (const [input, driver, origin] of steps) {
      const { config, origins } = loadConfig(input)
      expect(config.cgroupDriver.configured).toBe(driver)
      expect(formatOrigin(config.cgroupDriver.origin)).toBe(origin)
      expect(origins.cgroupDriver).toEqual(config.cgroupDriver.origin)
    }
  })

  for (const empty of ['null', '""', '']) {
    test(`a drop-in with cgroupDriver: ${empty} resets to the default`, () => {
      const { config } = load('cgroupDriver: systemd\n', {
        dropIns: [dropIn('a.conf', `cgroupDriver: ${empty}\n`)],
      })
      expect(config.cgroupDriver).toMatchObject({ configured: 'cgroupfs', origin: { from: 'default' } })
    })
  }

  test('objects are merged, lists replaced, entries of maps keep their own origins', () => {
    const { config, origins } = load(
      'authentication:\n  webhook: {cacheTTL: 1m}\nenforceNodeAllocatable: [pods]\nevictionHard: {memory.available: 1Gi}\n',
      {
        dropIns: [
          dropIn('a.conf', 'authentication: {webhook: {enabled: false}}\nenforceNodeAllocatable: [none]\n'),
          dropIn('b.conf', 'evictionHard:\n  nodefs.available: 1%\n'),
        ],
      },
    )
    expect(config.kubelet.authentication.webhook).toEqual({ enabled: false, cacheTTL: 60_000 })
    expect(config.kubelet.enforceNodeAllocatable).toEqual(['none'])
    expect(config.kubelet.evictionHard).toEqual({ 'memory.available': '1Gi', 'nodefs.available': '1%' })
    expect(formatOrigin(origins['evictionHard["memory.available"]'] ?? { from: 'default' })).toBe(
      '/etc/k.yaml:6',
    )
    expect(formatOrigin(origins['evictionHard["nodefs.available"]'] ?? { from: 'default' })).toBe(
      'drop-in b.conf:4',
    )
    expect(formatOrigin(origins['authentication.webhook.cacheTTL'] ?? { from: 'default' })).toBe(
      '/etc/k.yaml:4',
    )
  })

  test('gates of files survive gates of flags, other maps are replaced', () => {
    const { config } = load('featureGates: {MemoryQoS: true}\nkubeReserved: {cpu: 1m, memory: 1Gi}\n', {
      flags: ['--feature-gates=EventedPLEG=true', '--kube-reserved=memory=2Gi'],
    })
    expect(config.gates.MemoryQoS?.enabled).toBe(true)
    expect(config.gates.EventedPLEG?.enabled).toBe(true)
    expect(Object.keys(config.kubelet.kubeReserved)).toEqual(['memory'])
    const memory = config.kubelet.kubeReserved.memory
    expect(memory && quantityValue(memory)).toBe(2n << 30n)
  })

  test('drop-ins that do not end in .conf are not even read', () => {
    const junk = { path: '10-a.yaml', bytes: new Uint8Array([0]) }
    expect(load('', { dropIns: [junk] }).problems).toEqual([])
  })

  test('1.28 and 1.29 need the variable, 1.27 has no --config-dir', () => {
    const dropIns = [dropIn('a.conf', 'cgroupDriver: systemd\n')]
    expect(problems('', { dropIns, ...version('1.29') })).toEqual([
      expect.stringContaining('KUBELET_CONFIG_DROPIN_DIR_ALPHA'),
    ])
    const env = { KUBELET_CONFIG_DROPIN_DIR_ALPHA: 'on' }
    expect(load('', { dropIns, env, ...version('1.29') }).config.cgroupDriver.configured).toBe('systemd')
    const flags = ['--config-dir=/d', '--kubernetes-version=1.27']
    expect(problems('', { dropIns, flags })).toEqual([expect.stringContaining('unknown flag: --config-dir')])
    expect(problems('', { dropIns, ...version('1.27') })).toHaveLength(1)
  })
})

describe('unknown keys', () => {
  test('a warning with the nearest name, an error with strict', () => {
    const body = 'cgroupDrivr: systemd\nauthentication: {webhok: {}}\n'
    expect(warnings(body)).toEqual([
      'cgroupDrivr: unknown key; did you mean cgroupDriver?; fix the name or remove it (/etc/k.yaml:3)',
      'authentication.webhok: unknown key; did you mean webhook?; fix the name or remove it (/etc/k.yaml:4)',
    ])
    expect(problems(body)).toEqual([])
    expect(problems(body, { strict: true })).toHaveLength(2)
    expect(problems(body, { flags: ['--strict'] })).toHaveLength(2)
    expect(problems(body, { keelson: keelson('strict: true\n') })).toHaveLength(2)
  })

  test('upstream fields without behaviour are kept and named', () => {
    const loaded = load('podCIDR: 10.0.0.0/24\nlogging: {vmodule: [{filePattern: a, verbosity: 5}]}\n')
    expect(loaded.warnings.map((w) => [w.id, w.path])).toEqual([
      ['without-effect', 'logging.vmodule'],
      ['without-effect', 'podCIDR'],
    ])
    expect(loaded.config.document).toMatchObject({
      podCIDR: '10.0.0.0/24',
      port: 10250,
      runtimeRequestTimeout: '2m0s',
    })
    expect(load('podCIDR: 10.0.0.0/24\n', { strict: true }).problems).toEqual([])
  })

  test('a field of a later release is unknown, and not applied', () => {
    const loaded = load('singleProcessOOMKill: true\nuserNamespaces: {}\n', version('1.31'))
    expect(loaded.warnings.map((w) => w.id)).toEqual(['unknown-key', 'unknown-key'])
    expect(loaded.config.kubelet.singleProcessOOMKill).toBe(false)
  })

  test('a flag may set what is not yet a field', () => {
    const flags = ['--container-runtime-endpoint=unix:///x.sock']
    const loaded = loadConfig({ flags, ...version('1.26') })
    expect(loaded.problems).toEqual([])
    expect(loaded.config.kubelet.containerRuntimeEndpoint).toBe('unix:///x.sock')
  })
})

describe('KeelsonConfiguration', () => {
  test('release, profile and stages, flags above the file', () => {
    const file = keelson('kubernetesVersion: v1.33.4\nprofile: upstream\nports: {companion: 20000}\n')
    const fromFile = loadConfig({ keelson: file }).config
    expect([fromFile.version, fromFile.profile]).toEqual([{ minor: 33, patch: 4 }, 'upstream'])
    expect(fromFile.keelson.ports).toEqual({ companion: 20000, cri: 10252 })
    const flags = ['--kubernetes-version', '1.30', '--profile=kep']
    const fromFlags = loadConfig({ keelson: file, flags }).config
    expect([fromFlags.version.minor, fromFlags.profile]).toEqual([30, 'kep'])
  })

  test('the time between samples', () => {
    const period = (body: string) => loadConfig({ keelson: keelson(body) }).config.keelson.metrics.period
    expect([period(''), period('metrics: {period: 1m0s}\n')]).toEqual([10_000, 60_000])
  })

  test('a version without quotes', () => {
    expect(loadConfig({ keelson: keelson('kubernetesVersion: 1.30\n') }).config.version.minor).toBe(30)
    expect(loadConfig({ keelson: keelson('kubernetesVersion: 1.36\n') }).config.version.minor).toBe(36)
  })

  for (const [body, code, says] of [
    ['kubernetesVersion: "1.99"\n', 'version.unknown', /1\.99.*keelson\/config\.yaml:3/],
    ['profile: seed\n', 'config.invalid', /"seed" is not one of kep, upstream/],
    ['stages: {MemoryQoS: gamma}\n', 'config.invalid', /"gamma" is not a stage/],
    ['stages: {MemoryQos: beta}\n', 'config.invalid', /did you mean MemoryQoS\?.*keelson\/config\.yaml:3/],
    ['ports: {cri: -1}\n', 'config.invalid', /ports\.cri/],
    ['metrics: {period: 500ms}\n', 'config.invalid', /metrics\.period.*outside 1s to 10m0s/],
  ] as const) {
    test(`refused: ${body.trim()}`, () => {
      const error = thrown(() => requireConfig({ keelson: keelson(body) }))
      expect(error.code).toBe(code)
      expect(error.message).toMatch(says)
    })
  }

  test('the kubelet file in its place is a wrong kind', () => {
    expect(thrown(() => requireConfig({ keelson: kubelet('') })).code).toBe('config.kind')
  })
})

describe('KEP-4033', () => {
  test('the rules of the release come with the configured driver', () => {
    expect(loadConfig(version('1.36')).config.cgroupDriver).toEqual({
      rules: { stage: 'ga', fallback: 'allowed', losingSupportLabel: '1.37', event: true },
      configured: 'cgroupfs',
      origin: { from: 'default' },
    })
    expect(loadConfig(version('1.37')).config.cgroupDriver.rules.fallback).toBe('removed')
    expect(loadConfig(version('1.27')).config.cgroupDriver.rules.stage).toBeUndefined()
  })

  test('the flag after removal is ignored with a word or refused', () => {
    const flags = ['--cgroup-driver=systemd', '--kubernetes-version=1.37']
    const ignored = loadConfig({ flags })
    expect(ignored.warnings.map((w) => w.id)).toEqual(['flag-ignored-after-removal'])
    expect(ignored.config.cgroupDriver).toMatchObject({ configured: 'systemd', origin: { from: 'flag' } })
    const refused = loadConfig({ flags, keelson: keelson('removedFlagPolicy: reject\n') })
    expect(refused.problems.map((p) => p.message)).toEqual([
      expect.stringMatching(/unknown flag: --cgroup-driver/),
    ])
  })

  test('unknown and locked gates are start errors', () => {
    const gate = 'featureGates: {KubeletCgroupDriverFromCRI: false}\n'
    expect(problems(gate, version('1.27'))).toEqual([expect.stringContaining('unrecognized')])
    expect(problems(gate, version('1.34'))).toEqual([expect.stringContaining('locked')])
    expect(problems(gate, version('1.33'))).toEqual([])
  })
})

test('the files of a kubeadm node load without a problem', () => {
  const body = `authentication:
  anonymous: {enabled: false}
  webhook: {cacheTTL: 0s, enabled: true}
  x509: {clientCAFile: /etc/kubernetes/pki/ca.crt}
authorization:
  mode: Webhook
  webhook: {cacheAuthorizedTTL: 0s, cacheUnauthorizedTTL: 0s}
cgroupDriver: systemd
clusterDNS:
- 10.96.0.10
clusterDomain: cluster.local
containerRuntimeEndpoint: ""
cpuManagerReconcilePeriod: 0s
crashLoopBackOff: {}
evictionPressureTransitionPeriod: 0s
fileCheckFrequency: 0s
healthzBindAddress: 127.0.0.1
healthzPort: 10248
httpCheckFrequency: 0s
imageMaximumGCAge: 0s
imageMinimumGCAge: 0s
logging:
  flushFrequency: 0
  options: {json: {infoBufferSize: "0"}, text: {infoBufferSize: "0"}}
  verbosity: 0
memorySwap: {}
nodeStatusReportFrequency: 0s
nodeStatusUpdateFrequency: 0s
resolvConf: /run/systemd/resolve/resolv.conf
rotateCertificates: true
runtimeRequestTimeout: 0s
shutdownGracePeriod: 0s
shutdownGracePeriodCriticalPods: 0s
staticPodPath: /etc/kubernetes/manifests
streamingConnectionIdleTimeout: 0s
syncFrequency: 0s
volumeStatsAggPeriod: 0s
`
  const flags = [
    '--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf',
    '--kubeconfig=/etc/kubernetes/kubelet.conf',
    '--config=/var/lib/kubelet/config.yaml',
    '--container-runtime-endpoint=unix:///run/containerd/containerd.sock',
    '--node-ip=192.0.2.10',
    '--pod-infra-container-image=registry.k8s.io/pause:3.10',
  ]
  for (const release of ['1.32', '1.34']) {
    const loaded = load(body, { flags, strict: true, ...version(release) })
    expect(loaded.problems).toEqual([])
    expect(loaded.config.kubelet.staticPodPath).toBe('/etc/kubernetes/manifests')
    expect(loaded.config.kubelet.authentication.webhook.cacheTTL).toBe(120_000)
    expect(loaded.warnings.filter((w) => w.id === 'unknown-key')).toEqual([])
  }
})
