// Which record of its socket counts on a node, release by release.
import { describe, expect, test } from 'vitest'
import { decideResetSocket, decideUpgradeSocket, type SocketFacts } from './node-socket.js'

const facts = (
  annotation?: string,
  instance?: string,
  listening: readonly string[] = [],
  { config, flag }: { config?: string; flag?: string } = {},
): SocketFacts => ({
  os: 'linux',
  nodeName: 'n',
  annotation,
  listening,
  instanceEndpoint: () => instance,
  configEndpoint: () => config,
  flagEndpoint: () => flag,
})
const [a, i, c, o] = [
  'unix:///a',
  'unix:///i',
  'unix:///var/run/containerd/containerd.sock',
  'unix:///var/run/crio/crio.sock',
] as const

describe('decideUpgradeSocket', () => {
  for (const [minor, gate, given, from, warnings] of [
    [31, false, facts(a, i), 'annotation', []],
    [33, false, facts(a, i), 'annotation', []],
    [32, true, facts(a, i), 'instance-config', []],
    [33, true, facts(a), 'annotation', []],
    [34, true, facts(a, i), 'annotation', []],
    [34, false, facts(undefined, i), 'instance-config', []],
    [35, true, facts(a, i), 'annotation', []],
    [36, true, facts(undefined, i), 'instance-config', []],
    [36, true, facts(undefined, undefined, [o]), 'detected', ['socket-autodetected']],
    [35, false, facts(), 'default', ['socket-autodetected']],
    [
      36,
      true,
      facts(undefined, undefined, [c, o]),
      'default',
      ['socket-autodetected', 'autodetection-failed'],
    ],
    [37, true, facts(a, i), 'instance-config', []],
    [37, true, facts(a, undefined, [o]), 'detected', ['socket-autodetected']],
    [38, true, facts(a), 'default', ['socket-autodetected']],
    [35, true, facts('/run/x'), 'annotation', ['scheme-prepended']],
    [35, true, facts(undefined, undefined, [c], { config: o }), 'kubelet-config', []],
    [36, true, facts(undefined, undefined, [c, o], { config: o }), 'kubelet-config', []],
    [37, true, facts(a, undefined, [c], { config: o }), 'kubelet-config', []],
    [36, true, facts(a, undefined, [c], { config: o }), 'annotation', []],
    [36, true, facts(undefined, i, [c], { config: o }), 'instance-config', []],
    [36, true, facts(undefined, undefined, [c], { flag: o }), 'kubelet-flags', ['socket-autodetected']],
    [36, true, facts(undefined, undefined, [], { flag: o, config: a }), 'kubelet-flags', []],
    [37, true, facts(undefined, undefined, [c], { flag: o }), 'detected', ['socket-autodetected']],
  ] as const)
    test(`1.${minor}, gate ${gate ? 'on' : 'off'}: ${from} ${warnings.join(' ')}`, () => {
      const choice = decideUpgradeSocket(minor, gate, 'kep', given)
      expect(choice.from).toBe(from)
      expect(choice.warnings.map((w) => w.id)).toEqual(warnings)
    })

  for (const [minor, gate, given, words] of [
    [31, false, facts(undefined, i, [o]), ['kubeadm.alpha.kubernetes.io/cri-socket']],
    [33, true, facts(undefined, undefined, [o]), ['kubeadm.alpha.kubernetes.io/cri-socket']],
    [
      34,
      true,
      facts(undefined, undefined, [o]),
      ['kubeadm.alpha.kubernetes.io/cri-socket', 'instance-config.yaml'],
    ],
  ] as const)
    test(`1.${minor}, gate ${gate ? 'on' : 'off'}: nothing is recorded`, () => {
      for (const word of words) expect(() => decideUpgradeSocket(minor, gate, 'kep', given)).toThrow(word)
    })
})

test('the flag file names the socket: it is used, and the warnings name the file and the value', () => {
  const choice = decideUpgradeSocket(
    36,
    true,
    'kep',
    facts(undefined, undefined, [c, o], { flag: '/run/k3s' }),
  )
  expect(choice.endpoint).toBe('unix:///run/k3s')
  expect(choice.warnings.map((w) => w.id)).toEqual(['socket-autodetected', 'autodetection-failed'])
  for (const { message } of choice.warnings) {
    expect(message).toContain('kubeadm-flags.env')
    expect(message).toContain('/run/k3s')
    expect(message).not.toContain('no file on node')
  }
})

for (const [minor, gate, ways] of [
  [31, false, ['kubectl annotate node n kubeadm.alpha.kubernetes.io/cri-socket=unix:///f', '--kubeconfig']],
  [33, true, ['kubectl annotate node n', 'containerRuntimeEndpoint: "unix:///f"']],
  [34, false, ['kubectl annotate node n', 'containerRuntimeEndpoint: "unix:///f"']],
] as const)
  test(`1.${minor}: no record is an error that says what the flag file has and how to pass it on`, () => {
    const run = () =>
      decideUpgradeSocket(minor, gate, 'kep', facts(undefined, undefined, [c], { flag: 'unix:///f' }))
    for (const word of ['kubeadm-flags.env', 'unix:///f', ...ways]) expect(run).toThrow(word)
  })

test('profile upstream goes by neither config.yaml nor the flag file', () => {
  const given = facts(undefined, undefined, [c], { config: o, flag: a })
  for (const minor of [35, 36, 37])
    expect(decideUpgradeSocket(minor, true, 'upstream', given)).toMatchObject({
      endpoint: c,
      from: 'detected',
    })
})

describe('decideResetSocket', () => {
  const nothing = { flag: undefined, config: undefined }
  test('flag, config, instance file, annotation, detection', () => {
    expect(decideResetSocket({ flag: 'unix:///f', config: undefined }, facts(a, i)).from).toBe('flag')
    expect(decideResetSocket({ flag: undefined, config: 'unix:///c' }, facts(a, i)).from).toBe('config')
    expect(decideResetSocket(nothing, facts(a, i)).from).toBe('instance-config')
    expect(decideResetSocket(nothing, facts(a)).from).toBe('annotation')
    expect(decideResetSocket(nothing, facts(undefined, undefined, [o])).from).toBe('detected')
    expect(decideResetSocket(nothing, facts()).from).toBe('default')
  })
  test('several endpoints and no record is an error', () => {
    for (const word of ['multiple', 'criSocket', c, o])
      expect(() => decideResetSocket(nothing, facts(undefined, undefined, [c, o]))).toThrow(word)
  })
})
