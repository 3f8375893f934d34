// Which record of its socket counts on a node, release by release.
import { describe, expect, test } from 'vitest'
import { decideResetSocket, decideUpgradeSocket, type SocketFacts } from './node-socket.js'

const facts = (annotation?: string, instance?: string, listening: readonly string[] = []): SocketFacts => ({
  os: 'linux',
  nodeName: 'n',
  annotation,
  listening,
  instanceEndpoint: () => instance,
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
  ] as const)
    test(`1.${minor}, gate ${gate ? 'on' : 'off'}: ${from} ${warnings.join(' ')}`, () => {
      const choice = decideUpgradeSocket(minor, gate, given)
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
      for (const word of words) expect(() => decideUpgradeSocket(minor, gate, given)).toThrow(word)
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
