import { describe, expect, test } from 'vitest'
import { keelson, kubelet, load, problems, version } from '../../test/support/config-inputs.js'

describe('Memory QoS by release and profile', () => {
  const on = 'featureGates: {MemoryQoS: true}\n'
  for (const [release, profile, body, expected] of [
    ['1.22', 'kep', on, { enabled: true, generation: '1.22', factor: 0.8, policy: 'HardReservation' }],
    ['1.27', 'kep', on, { enabled: true, generation: '1.27', factor: 0.9, policy: 'HardReservation' }],
    ['1.35', 'upstream', on, { enabled: true, generation: '1.27', factor: 0.9, policy: 'HardReservation' }],
    ['1.36', 'kep', on, { enabled: true, generation: '1.27', factor: 0.9, policy: 'None' }],
    ['1.36', 'kep', `${on}memoryReservationPolicy: HardReservation\n`, { policy: 'HardReservation' }],
    ['1.36', 'kep', `${on}memoryReservationPolicy: ""\n`, { policy: 'None' }],
    ['1.36', 'kep', `${on}memoryThrottlingFactor: null\n`, { enabled: true, factor: undefined }],
    ['1.36', 'kep', `${on}memoryThrottlingFactor: 1\n`, { factor: 1 }],
    ['1.36', 'upstream', on, { enabled: true, factor: 0.9, policy: 'None' }],
    ['1.37', 'upstream', '', { enabled: true, factor: undefined, policy: 'None' }],
    ['1.37', 'kep', '', { enabled: false, factor: undefined, policy: 'None' }],
    ['1.36', 'kep', 'memoryThrottlingFactor: 0.9\n', { enabled: false, factor: undefined }],
  ] as const) {
    test(`${release} ${profile} ${JSON.stringify(body)}`, () => {
      const loaded = load(body, version(release, profile))
      expect(loaded.problems).toEqual([])
      expect(loaded.config.memoryQos).toMatchObject(expected)
    })
  }

  for (const [release, profile, body, says] of [
    ['1.21', 'kep', on, /unrecognized feature gate: MemoryQoS/],
    [
      '1.35',
      'kep',
      `${on}memoryReservationPolicy: None\n`,
      /memoryReservationPolicy: is unknown in Kubernetes 1\.35/,
    ],
    ['1.35', 'upstream', 'memoryReservationPolicy: ""\n', /memoryReservationPolicy/],
    [
      '1.36',
      'upstream',
      `${on}memoryReservationPolicy: HardReservation\n`,
      /valid values are None, TieredReservation/,
    ],
    [
      '1.36',
      'kep',
      'memoryReservationPolicy: TieredReservation\n',
      /memoryReservationPolicy.*MemoryQoS is off/,
    ],
    ['1.36', 'kep', `${on}memoryReservationPolicy: none\n`, /valid values are/],
    ['1.36', 'kep', 'memoryThrottlingFactor: 0.8\n', /MemoryQoS is off/],
    ['1.36', 'kep', `${on}memoryThrottlingFactor: 0\n`, /greater than 0/],
    ['1.36', 'kep', `${on}memoryThrottlingFactor: 1.1\n`, /at most 1/],
    ['1.36', 'kep', `${on}memoryThrottlingFactor: .nan\n`, /memoryThrottlingFactor is NaN/],
    ['1.36', 'kep', `${on}memoryThrottlingFactor: .inf\n`, /memoryThrottlingFactor is Infinity/],
    ['1.36', 'kep', `${on}memoryThrottlingFactor: "0.9"\n`, /must be a number, not "0\.9"/],
    ['1.36', 'kep', `${on}memoryThrottlingFactor: true\n`, /must be a number, not true/],
    ['1.36', 'kep', `${on}enforceNodeAllocatable: [pods, kube-reserved]\n`, /kubeReservedCgroup is not set/],
    ['1.36', 'kep', `${on}enforceNodeAllocatable: [none, pods]\n`, /none beside other values/],
    ['1.36', 'kep', 'cgroupsPerQOS: false\n', /cgroupsPerQOS is false/],
  ] as const) {
    test(`refused: ${release} ${profile} ${JSON.stringify(body)}`, () => {
      expect(problems(body, version(release, profile))).toEqual([expect.stringMatching(says)])
    })
  }

  test('gate off and out of range are both reported', () => {
    expect(problems('memoryThrottlingFactor: 1.5\n')).toHaveLength(2)
  })

  test('Disabled is an old word for None', () => {
    const loaded = load(`${on}memoryReservationPolicy: Disabled\n`)
    expect(loaded.problems).toEqual([])
    expect(loaded.config.memoryQos.policy).toBe('None')
    expect(loaded.warnings.map((w) => w.id)).toContain('deprecated-value')
  })

  test('a null in a drop-in is the last word about the factor', () => {
    const dropIns = [kubelet('memoryThrottlingFactor: null\n', 'a.conf')]
    expect(load(`${on}memoryThrottlingFactor: 0.7\n`, { dropIns }).config.memoryQos.factor).toBeUndefined()
    expect(
      load(`${on}memoryThrottlingFactor: null\n`, { dropIns: [kubelet('', 'a.conf')] }).config.memoryQos
        .factor,
    ).toBeUndefined()
  })

  test('stages pick what no release has', () => {
    const { config } = load('', { keelson: keelson('stages: {MemoryQoS: beta}\n') })
    expect(config.memoryQos).toMatchObject({ enabled: true, factor: 0.9, policy: 'None' })
  })
})
