import { describe, expect, test } from 'vitest'
import { parseVersion } from '../core/release/version.js'
import { flagTable, otherFlags } from './flag-table.js'
import { readProcessFlags } from './flag-words.js'
import { type FlagRules, parseKubeletFlags } from './flags.js'
import { kubeletSchema } from './kubelet-schema.js'

const parse = (argv: string | readonly string[], version = '1.36', more: Partial<FlagRules> = {}) =>
  parseKubeletFlags(typeof argv === 'string' ? argv.split(' ').filter((w) => w !== '') : argv, {
    version: parseVersion(version),
    ...more,
  })

const values = (argv: string | readonly string[]) =>
  Object.fromEntries(parse(argv).settings.map((s) => [s.field.join('.'), s.value]))

describe('forms', () => {
  for (const [argv, expected] of [
    ['--cgroup-driver=systemd', { cgroupDriver: 'systemd' }],
    ['--cgroup-driver systemd', { cgroupDriver: 'systemd' }],
    ['--cgroup_driver=systemd', { cgroupDriver: 'systemd' }],
    ['--cgroup-driver= --port=1', { cgroupDriver: '', port: 1 }],
    ['--cgroups-per-qos', { cgroupsPerQOS: true }],
    ['--cgroups-per-qos=false', { cgroupsPerQOS: false }],
    ['--fail-swap-on=0', { failSwapOn: false }],
    ['--port=10260 --port=10270', { port: 10270 }],
    ['--enforce-node-allocatable=pods,kube-reserved', { enforceNodeAllocatable: ['pods', 'kube-reserved'] }],
    [
      '--enforce-node-allocatable=pods --enforce-node-allocatable=system-reserved',
      { enforceNodeAllocatable: ['pods', 'system-reserved'] },
    ],
    ['--enforce-node-allocatable=', { enforceNodeAllocatable: [] }],
    ['--kube-reserved=cpu=1,memory=1Gi', { kubeReserved: { cpu: '1', memory: '1Gi' } }],
    ['--kube-reserved=cpu=1 --kube-reserved=memory=1Gi', { kubeReserved: { cpu: '1', memory: '1Gi' } }],
    ['--feature-gates A=true,B=false', { featureGates: { A: true, B: false } }],
    [
      '--eviction-hard memory.available<100Mi,nodefs.available<5%',
      {
        evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '5%' },
      },
    ],
    ['-v 4', { 'logging.verbosity': 4 }],
    ['-v=4', { 'logging.verbosity': 4 }],
    ['--v=4 --logging-format json', { 'logging.verbosity': 4, 'logging.format': 'json' }],
    ['--client-ca-file /ca.crt', { 'authentication.x509.clientCAFile': '/ca.crt' }],
  ] as const) {
    test(argv, () => {
      expect(values(argv)).toEqual(expected)
      expect(parse(argv).problems).toEqual([])
    })
  }

  test('flags about the program itself', () => {
    const argv = [
      '--config=/k.yaml',
      '--config-dir',
      '/d',
      '--hostname-override=n',
      '--strict',
      '--profile',
      'upstream',
    ]
    expect(readProcessFlags(argv)).toEqual({
      config: '/k.yaml',
      'config-dir': '/d',
      'hostname-override': 'n',
      strict: 'true',
      profile: 'upstream',
    })
    expect(parse(argv).settings).toEqual([])
    expect(parse('--help').asks).toBe('help')
    expect(parse('-h').asks).toBe('help')
    expect(parse('--version').asks).toBe('version')
  })
})

describe('refused', () => {
  for (const [argv, version, says] of [
    ['--cgroup-drivr=systemd', '1.36', /unknown flag: --cgroup-drivr; did you mean cgroup-driver\?/],
    ['--nonsense-at-all value', '1.36', /unknown flag: --nonsense-at-all$/],
    ['--config-dir=/d', '1.27', /unknown flag: --config-dir.*added in Kubernetes 1\.28/],
    ['--fail-cgroupv1', '1.30', /added in Kubernetes 1\.31/],
    ['--network-plugin=cni', '1.24', /unknown flag: --network-plugin.*1\.24 removed it/],
    ['--pod-infra-container-image=p', '1.35', /1\.35 removed it/],
    ['--port=abc', '1.36', /invalid argument "abc" for --port/],
    ['--cgroups-per-qos=maybe', '1.36', /invalid argument "maybe" for --cgroups-per-qos/],
    ['--kube-reserved=cpu', '1.36', /malformed pair "cpu"/],
    ['--kube-reserved==1', '1.36', /malformed pair/],
    ['--eviction-hard=memory.available=1Mi', '1.36', /malformed pair/],
    ['--feature-gates=A=perhaps', '1.36', /malformed pair "A=perhaps"/],
    ['--port', '1.36', /--port needs a value/],
    ['start', '1.36', /unexpected argument "start"/],
    ['-- --port=1', '1.36', /unexpected argument "--port=1"/],
    ['-x', '1.36', /unknown flag/],
  ] as const) {
    test(`${argv} in ${version}`, () => {
      const { problems } = parse(argv, version)
      expect(problems.map((p) => p.message)).toEqual([expect.stringMatching(says)])
      expect(problems[0]?.code).toBe('usage.invalid')
    })
  }
})

describe('warnings', () => {
  const ids = (argv: string, version?: string, more?: Partial<FlagRules>) =>
    parse(argv, version, more).warnings.map((w) => w.id)

  test('a flag that mirrors a field is deprecated, verbosity is not', () => {
    expect(ids('--cgroup-driver=systemd')).toEqual(['flag-deprecated'])
    expect(ids('--v=2 --fail-cgroupv1 --node-ip=1.2.3.4 --kubeconfig=/k')).toEqual([])
  })

  test("kubeadm's other flags: those about the cluster count, those of another runtime have no effect", () => {
    const argv = '--bootstrap-kubeconfig=/b --cloud-provider external --node-labels=a=b'
    expect(parse(argv).problems).toEqual([])
    expect(ids(argv)).toEqual([])
    expect(ids('--network-plugin=cni', '1.23')).toEqual(['without-effect'])
  })

  test('--cgroup-driver after its removal: ignored with a word, or an unknown flag', () => {
    const gone = { cgroupDriverRemoved: true } as const
    expect(ids('--cgroup-driver=systemd', '1.37', gone)).toEqual(['flag-ignored-after-removal'])
    expect(parse('--cgroup-driver=systemd', '1.37', gone).settings).toHaveLength(1)
    const { problems, settings } = parse('--cgroup-driver=systemd', '1.37', {
      ...gone,
      removedFlagPolicy: 'reject',
    })
    expect(problems[0]?.message).toMatch(/unknown flag: --cgroup-driver/)
    expect(settings).toEqual([])
  })
})

describe('the tables', () => {
  test('every flag leads to a field of the schema', () => {
    for (const [name, row] of Object.entries(flagTable)) {
      if (!('field' in row)) continue
      const end = row.field.split('.').reduce<unknown>((at, key) => {
        const group = at as { fields?: Record<string, unknown> }
        return (group.fields ?? (at as Record<string, unknown>))[key]
      }, kubeletSchema)
      expect(end, `--${name}`).toMatchObject({ type: 'field' })
    }
  })
  test('no flag is in both', () => {
    expect([...otherFlags.keys()].filter((name) => name in flagTable)).toEqual([])
    expect(otherFlags.size).toBeGreaterThan(70)
  })
})
