import { describe, expect, test } from 'vitest'
import { encode, head, kubelet, load, problems, thrown, version } from '../../test/support/config-inputs.js'
import { requireConfig } from './load.js'
import { formatOrigin } from './origin.js'

describe('problems', () => {
  test('all of them, with path, origin and remedy', () => {
    const loaded = load(
      'port: 70000\nmaxPods: many\nruntimeRequestTimeout: 30\nfeatureGates: {Nope: true}\n',
      {
        dropIns: [
          kubelet('\nauthentication: {webhook: {enabled: maybe}}\n', 'a.conf'),
          { path: 'b.conf', bytes: encode('{}') },
        ],
        flags: ['--healthz-port=-5', '--nope'],
      },
    )
    expect(loaded.problems.map((p) => [p.path, formatOrigin(p.origin)])).toEqual([
      ['', 'drop-in b.conf:1'],
      ['', 'flag --nope'],
      ['runtimeRequestTimeout', '/etc/k.yaml:5'],
      ['maxPods', '/etc/k.yaml:4'],
      ['port', '/etc/k.yaml:3'],
      ['healthzPort', 'flag --healthz-port'],
      ['authentication.webhook.enabled', 'drop-in a.conf:4'],
      ['featureGates', '/etc/k.yaml:6'],
    ])
    for (const p of loaded.problems) expect(p.remedy, p.message).not.toBe('')
    expect(loaded.config.kubelet.port).toBe(10250)
  })

  for (const [name, body, says] of [
    ['negative quantity', 'kubeReserved: {memory: "-1Gi"}\n', /"-1Gi" is negative/],
    ['absurd quantity', 'kubeReserved: {memory: 99Ei}\n', /is too large/],
    ['broken quantity', 'systemReserved: {memory: 1GB}\n', /"1GB" is not a quantity/],
    ['number instead of text', 'kubeReserved: {cpu: 1}\n', /cpu: must be a string, not 1; quote the amount/],
    ['unknown resource', 'kubeReserved: {gpu: "1"}\n', /gpu: cannot be reserved/],
    ['eviction share', 'evictionHard: {memory.available: 101%}\n', /not a percentage/],
    ['eviction signal', 'evictionHard: {memory.free: 1Mi}\n', /memory\.free: is not an eviction signal/],
    ['negative eviction', 'evictionHard: {memory.available: -5Mi}\n', /negative/],
    [
      'soft eviction without grace',
      'evictionSoft: {memory.available: 1Gi}\n',
      /memory\.available has no grace period/,
    ],
    [
      'grace of an eviction',
      'evictionSoftGracePeriod: {memory.available: -1s}\n',
      /not a duration of 0 or more/,
    ],
    [
      'image thresholds',
      'imageGCHighThresholdPercent: 80\n',
      /80 is not less than imageGCHighThresholdPercent 80/,
    ],
    ['image ages', 'imageMaximumGCAge: 1m\n', /is not longer than imageMinimumGCAge/],
    ['part of a shutdown', 'shutdownGracePeriodCriticalPods: 5s\n', /is longer than shutdownGracePeriod/],
    ['short shutdown', 'shutdownGracePeriod: 10ms\n', /is shorter than 1s/],
    [
      'two ways to shut down',
      'shutdownGracePeriod: 9s\nshutdownGracePeriodByPodPriority: [{priority: 0, shutdownGracePeriodSeconds: 9}]\n',
      /cannot be combined/,
    ],
    ['shutdown by priority', 'shutdownGracePeriodByPodPriority: [7]\n', /is not an entry of priority/],
    ['scalar for a mapping', 'authentication: 5\n', /authentication: must be a mapping, not 5/],
    ['list for text', 'cgroupDriver: [systemd]\n', /must be a string, not a list/],
    ['text for a list', 'enforceNodeAllocatable: pods\n', /must be a list/],
    ['fraction of a port', 'port: 1.5\n', /whole number/],
    ['integers beyond 2^53', 'podPidsLimit: 99999999999999999999\n', /whole number/],
    ['negative duration', 'runtimeRequestTimeout: -1s\n', /outside 0s/],
    ['quota period', 'cpuCFSQuotaPeriod: 2s\n', /outside 1ms to 1s/],
    ['authorization', 'authorization: {mode: Open}\n', /"Open" is not one of Webhook, AlwaysAllow/],
    ['key without certificate', 'tlsPrivateKeyFile: /k\n', /without tlsCertFile/],
    ['one port twice', 'port: 10248\n', /healthzPort: 10248 is also port/],
    ['system processes in the root', 'cgroupRoot: /\nsystemCgroups: /\n', /systemCgroups: is the root/],
    ['system processes without cgroupRoot', 'systemCgroups: /system\n', /systemCgroups: needs cgroupRoot/],
    ['control characters', 'cgroupRoot: "/a\\u0007"\n', /control characters/],
  ] as const) {
    test(name, () => expect(problems(body)).toEqual([expect.stringMatching(says)]))
  }

  test('a period other than 100ms needs its gate before 1.36', () => {
    expect(problems('cpuCFSQuotaPeriod: 50ms\n', version('1.35'))).toHaveLength(1)
    expect(problems('cpuCFSQuotaPeriod: 50ms\n')).toEqual([])
  })

  test('a driver that does not exist matters only when the runtime is not asked', () => {
    expect(problems('cgroupDriver: systemx\n')).toEqual([])
    expect(problems('cgroupDriver: systemx\n', version('1.28'))).toEqual([expect.stringContaining('systemx')])
  })

  for (const [name, bytes, code] of [
    ['malformed YAML', encode('a: ['), 'yaml.invalid'],
    ['duplicate keys', encode(`${head}port: 1\nport: 2\n`), 'yaml.invalid'],
    ['another kind', encode('apiVersion: v1\nkind: Pod\n'), 'config.kind'],
    [
      'another version',
      encode('apiVersion: kubelet.config.k8s.io/v1\nkind: KubeletConfiguration\n'),
      'config.kind',
    ],
    ['no kind', encode('cgroupDriver: systemd\n'), 'config.kind'],
    ['empty', encode(''), 'config.kind'],
    ['a list', encode('[]'), 'config.kind'],
    ['a binary', new Uint8Array([127, 69, 76, 70, 2, 1, 1, 0]), 'input.not-text'],
    ['50 MB', new Uint8Array(50 * 1024 * 1024).fill(0x20), 'input.too-large'],
  ] as const) {
    test(`${name}: one error, ${code}`, () => {
      for (const input of [{ kubelet: { path: 'x', bytes } }, { dropIns: [{ path: 'x.conf', bytes }] }]) {
        const error = thrown(() => requireConfig(input))
        expect(error.code).toBe(code)
        expect(error.message).toContain('x')
      }
    })
  }

  test('a drop-in without apiVersion names its path', () => {
    const error = thrown(() =>
      requireConfig({ dropIns: [{ path: '10-a.conf', bytes: encode('cgroupDriver: x\n') }] }),
    )
    expect(error.message).toContain('10-a.conf')
    expect(error.message).toContain('apiVersion')
  })

  test('several kinds of problems are config.invalid with all of them in the message', () => {
    const error = thrown(() => requireConfig({ kubelet: kubelet('port: x\n'), flags: ['--nope'] }))
    expect(error.code).toBe('config.invalid')
    expect(error.message).toMatch(/2 problems:[\s\S]*--nope[\s\S]*port/)
  })
})
