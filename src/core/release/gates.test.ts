import { describe, expect, test } from 'vitest'
import { historyOf, namesOf, parseHistory } from './gate-history.js'
import { gateTable, type Profile } from './gate-table.js'
import { isGateEnabled, resolveGates, type SelectableStage } from './gates.js'
import { cgroupDriverRules, memoryQosRules } from './rules.js'
import { newestMinor, oldestMinor, parseVersion } from './version.js'

const resolve = (
  version: string,
  given: Record<string, unknown> = {},
  profile: Profile = 'kep',
  stages: Record<string, SelectableStage> = {},
) => resolveGates({ version: parseVersion(version), profile, given, stages })

/** How a gate stands in a release, in one word. */
const standing = (version: string, name: string, profile: Profile = 'kep', component?: 'kubeadm') => {
  const { gates } = resolveGates({
    version: parseVersion(version),
    profile,
    ...(component === undefined ? {} : { component }),
  })
  const state = gates[name]
  if (state === undefined) return 'unknown'
  return `${state.stage} ${state.enabled ? 'on' : 'off'}${state.locked ? ' locked' : ''}`
}

describe('stages by release and profile', () => {
  for (const [gate, profile, rows] of [
    [
      'KubeletCgroupDriverFromCRI',
      'kep',
      {
        '1.27': 'unknown',
        '1.28': 'alpha off',
        '1.30': 'alpha off',
        '1.31': 'beta on',
        '1.33': 'beta on',
        '1.34': 'ga on locked',
        '1.37': 'ga on locked',
        '1.38': 'ga on locked',
      },
    ],
    [
      'MemoryQoS',
      'kep',
      { '1.21': 'unknown', '1.22': 'alpha off', '1.36': 'alpha off', '1.38': 'alpha off' },
    ],
    [
      'MemoryQoS',
      'upstream',
      { '1.21': 'unknown', '1.36': 'alpha off', '1.37': 'beta on', '1.38': 'beta on' },
    ],
    ['PodAndContainerStatsFromCRI', 'kep', { '1.22': 'unknown', '1.23': 'alpha off', '1.38': 'alpha off' }],
    ['PodAndContainerStatsFromCRI', 'upstream', { '1.36': 'alpha off', '1.37': 'beta off' }],
    ['KubeletFineGrainedAuthz', 'kep', { '1.31': 'unknown', '1.33': 'beta on', '1.36': 'ga on locked' }],
    ['NodeSwap', 'kep', { '1.21': 'unknown', '1.29': 'beta off', '1.30': 'beta on', '1.34': 'ga on locked' }],
    ['SidecarContainers', 'kep', { '1.36': 'ga on locked', '1.37': 'removed on locked' }],
  ] as const) {
    for (const [version, expected] of Object.entries(rows)) {
      test(`${gate} ${profile} ${version}: ${expected}`, () => {
        expect(standing(version, gate, profile)).toBe(expected)
      })
    }
  }

  for (const [version, expected] of [
    ['1.31', 'unknown'],
    ['1.32', 'alpha off'],
    ['1.34', 'beta on'],
    ['1.36', 'ga on locked'],
    ['1.37', 'removed on locked'],
  ] as const) {
    test(`NodeLocalCRISocket is kubeadm's: ${version} ${expected}`, () => {
      expect(standing(version, 'NodeLocalCRISocket', 'kep', 'kubeadm')).toBe(expected)
      expect(standing(version, 'NodeLocalCRISocket')).toBe('unknown')
    })
  }

  test('both tables are well-formed, ascending and without double names', () => {
    const names = namesOf('kubelet')
    expect(new Set(names).size).toBe(names.length)
    expect(names.length).toBeGreaterThan(450)
    for (const name of names) {
      for (const profile of ['kep', 'upstream'] as const) {
        const minors = historyOf(name, 'kubelet', profile).map((s) => s.from)
        expect(minors.length, name).toBeGreaterThan(0)
        expect(minors, name).toEqual([...new Set(minors)].sort((a, b) => a - b))
      }
    }
    expect(() => parseHistory('28z')).toThrow(/bad gate history/)
  })
})

describe('given gates', () => {
  for (const { name, version, given, says } of [
    {
      name: 'before its first release',
      version: '1.27',
      given: { KubeletCgroupDriverFromCRI: true },
      says: /unrecognized feature gate: KubeletCgroupDriverFromCRI .*came with 1\.28/,
    },
    {
      name: 'locked',
      version: '1.34',
      given: { KubeletCgroupDriverFromCRI: false },
      says: /cannot set feature gate KubeletCgroupDriverFromCRI to false: it is locked/,
    },
    {
      name: 'still locked after the removal of the fallback',
      version: '1.38',
      given: { KubeletCgroupDriverFromCRI: false },
      says: /locked/,
    },
    {
      name: 'mistyped',
      version: '1.36',
      given: { MemoryQos2: true },
      says: /unrecognized.*did you mean MemoryQoS\?/,
    },
    {
      name: 'removed',
      version: '1.30',
      given: { DynamicKubeletConfig: true },
      says: /unrecognized feature gate: DynamicKubeletConfig \(removed in Kubernetes 1\.26\)/,
    },
    {
      name: 'removed, ours',
      version: '1.37',
      given: { SidecarContainers: true },
      says: /removed in Kubernetes 1\.37/,
    },
    { name: 'not a boolean', version: '1.36', given: { MemoryQoS: 'true' }, says: /must be true or false/ },
    { name: 'object member', version: '1.36', given: { constructor: true }, says: /unrecognized/ },
    { name: '__proto__', version: '1.36', given: JSON.parse('{"__proto__": true}'), says: /unrecognized/ },
  ]) {
    test(`${name} is an error`, () => {
      const { problems } = resolve(version, given)
      expect(problems).toHaveLength(1)
      expect(problems[0]?.message).toMatch(says)
      expect(problems[0]?.remedy).not.toBe('')
    })
  }

  test('a locked gate may be named with its own value, and is told that the name will go', () => {
    const { problems, warnings } = resolve('1.35', { KubeletCgroupDriverFromCRI: true })
    expect(problems).toEqual([])
    expect(warnings.map((w) => w.message)).toEqual([expect.stringContaining('GA')])
  })

  test('a gate without behaviour is accepted and reported', () => {
    const { problems, warnings, gates } = resolve('1.36', { ImageVolume: true })
    expect(problems).toEqual([])
    expect(gates.ImageVolume).toMatchObject({ enabled: true, effective: false })
    expect(warnings).toHaveLength(1)
  })

  test('AllAlpha turns alphas on, a gate by name beats it in any order, betas stay', () => {
    const { gates, problems } = resolve('1.36', { EventedPLEG: false, AllAlpha: true })
    expect(problems).toEqual([])
    expect(gates.MemoryQoS).toMatchObject({ enabled: true, setBy: 'AllAlpha' })
    expect(gates.EventedPLEG).toMatchObject({ enabled: false, setBy: 'given' })
    expect(gates.PodLevelResources).toMatchObject({ enabled: true, setBy: 'default' })
  })

  test('AllBeta=false turns betas off and leaves locked gates alone', () => {
    const { gates } = resolve('1.34', { AllBeta: false, PodLevelResources: true })
    expect(gates.KubeletFineGrainedAuthz?.enabled).toBe(false)
    expect(gates.PodLevelResources?.enabled).toBe(true)
    expect(gates.KubeletCgroupDriverFromCRI?.enabled).toBe(true)
  })

  test('every gate of the table has a defined standing in every supported release', () => {
    for (let minor = oldestMinor; minor <= newestMinor; minor++) {
      for (const profile of ['kep', 'upstream'] as const) {
        const { gates, problems } = resolveGates({ version: { minor, patch: undefined }, profile })
        expect(problems).toEqual([])
        for (const state of Object.values(gates)) expect(state.enabled).toBe(state.default)
      }
    }
    expect(isGateEnabled({}, 'MemoryQoS')).toBe(false)
  })
})

describe('stages chosen by hand', () => {
  test('MemoryQoS: beta is on by default and can be switched off', () => {
    expect(resolve('1.36', {}, 'kep', { MemoryQoS: 'beta' }).gates.MemoryQoS).toMatchObject({
      stage: 'beta',
      enabled: true,
    })
    expect(resolve('1.36', { MemoryQoS: false }, 'kep', { MemoryQoS: 'beta' }).problems).toEqual([])
  })

  test('stats from CRI stay off in beta, as released', () => {
    const { gates } = resolve('1.36', {}, 'kep', { PodAndContainerStatsFromCRI: 'beta' })
    expect(gates.PodAndContainerStatsFromCRI).toMatchObject({ stage: 'beta', enabled: false })
  })

  test('unknown makes the name unrecognized, ga locks it', () => {
    expect(resolve('1.36', { MemoryQoS: true }, 'kep', { MemoryQoS: 'unknown' }).problems).toHaveLength(1)
    expect(resolve('1.36', { MemoryQoS: false }, 'kep', { MemoryQoS: 'ga' }).problems[0]?.message).toMatch(
      /locked/,
    )
  })

  test('a stage for an unknown gate, or one that the gate does not have, is an error', () => {
    expect(resolve('1.36', {}, 'kep', { MemoryQos: 'beta' }).problems[0]).toMatchObject({
      in: 'stages',
      message: expect.stringContaining('did you mean MemoryQoS?'),
    })
    expect(resolve('1.36', {}, 'kep', { MemoryQoS: 'fallbackRemoved' }).problems).toHaveLength(1)
  })
})

describe('KEP-4033 by release', () => {
  const rules = (version: string, profile: Profile = 'kep', chosen?: SelectableStage) => {
    const { gates } = resolve(
      version,
      {},
      profile,
      chosen === undefined ? {} : { KubeletCgroupDriverFromCRI: chosen },
    )
    const stage = gates.KubeletCgroupDriverFromCRI?.stage
    const { fallback, losingSupportLabel, event } = cgroupDriverRules(
      { version: parseVersion(version), profile },
      stage,
      chosen,
    )
    return [fallback, losingSupportLabel, event]
  }
  for (const [version, profile, chosen, expected] of [
    ['1.28', 'kep', undefined, ['allowed', undefined, false]],
    ['1.31', 'kep', undefined, ['allowed', undefined, true]],
    ['1.34', 'kep', undefined, ['allowed', '1.37', true]],
    ['1.36.4', 'kep', undefined, ['allowed', '1.37', true]],
    ['1.37', 'kep', undefined, ['removed', undefined, false]],
    ['1.34', 'upstream', undefined, ['allowed', '1.38.0', true]],
    ['1.34.9', 'upstream', undefined, ['allowed', '1.36.0', true]],
    ['1.34.10', 'upstream', undefined, ['allowed', '1.38.0', true]],
    ['1.35.8', 'upstream', undefined, ['allowed', '1.36.0', true]],
    ['1.36', 'upstream', undefined, ['allowed', '1.38.0', true]],
    ['1.36.4', 'upstream', undefined, ['allowed', '1.37.0', true]],
    ['1.37.0', 'upstream', undefined, ['allowed', '1.38.0', true]],
    ['1.38', 'upstream', undefined, ['removed', undefined, false]],
    ['1.36', 'kep', 'fallbackRemoved', ['removed', undefined, false]],
    ['1.38', 'kep', 'ga', ['allowed', '1.37', true]],
    ['1.36', 'kep', 'alpha', ['allowed', undefined, false]],
  ] as const) {
    test(`${version} ${profile} ${chosen ?? ''}: ${expected.join(', ')}`, () => {
      expect(rules(version, profile, chosen)).toEqual(expected)
    })
  }
})

describe('KEP-2570 by release', () => {
  for (const [version, profile, expected] of [
    ['1.22', 'kep', ['1.22', 0.8, undefined, 'HardReservation']],
    ['1.26', 'kep', ['1.22', 0.8, undefined, 'HardReservation']],
    ['1.27', 'kep', ['1.27', 0.9, undefined, 'HardReservation']],
    ['1.35', 'upstream', ['1.27', 0.9, undefined, 'HardReservation']],
    ['1.36', 'kep', ['1.27', 0.9, ['None', 'HardReservation', 'TieredReservation'], 'None']],
    ['1.38', 'kep', ['1.27', 0.9, ['None', 'HardReservation', 'TieredReservation'], 'None']],
    ['1.36', 'upstream', ['1.27', 0.9, ['None', 'TieredReservation'], 'None']],
    ['1.37', 'upstream', ['1.27', undefined, ['None', 'TieredReservation'], 'None']],
    ['1.20', 'kep', ['1.22', 0.8, undefined, 'HardReservation']],
  ] as const) {
    test(`${version} ${profile}`, () => {
      const row = memoryQosRules({ version: parseVersion(version), profile })
      expect([row.generation, row.defaultFactor, row.policies, row.policy]).toEqual(expected)
    })
  }
})

describe('versions', () => {
  for (const [text, minor, patch] of [
    ['1.36', 36, undefined],
    ['v1.36.2', 36, 2],
    ['1.20.0', 20, 0],
    ['v1.37.0-rc.1', 37, 0],
    ['1.34.10+k3s1', 34, 10],
  ] as const) {
    test(`${text}`, () => expect(parseVersion(text)).toEqual({ minor, patch }))
  }
  for (const text of [
    '',
    '1',
    '2.0',
    '1.19',
    '1.41',
    '1.036',
    '1.36.',
    'latest',
    '1.36 ',
    ' 1.36',
    '1.1e2',
    '1.-3',
  ]) {
    test(`${JSON.stringify(text)} is refused`, () => {
      expect(() => parseVersion(text)).toThrow(expect.objectContaining({ code: 'version.unknown' }))
    })
  }
  test('the table names only gates that some supported release has', () => {
    for (const name of Object.keys(gateTable)) expect(name).toMatch(/^[A-Z][A-Za-z0-9]+$/)
  })
})
