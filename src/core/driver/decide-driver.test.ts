import { expect, test } from 'vitest'
import type { CgroupDriverRules } from '../release/rules.js'
import { type DriverFacts, decideDriver, type RuntimeConfigAnswer } from './decide-driver.js'

const ga: CgroupDriverRules = { stage: 'ga', fallback: 'allowed', losingSupportLabel: '1.37', event: true }
const removed: CgroupDriverRules = {
  stage: 'ga',
  fallback: 'removed',
  losingSupportLabel: undefined,
  event: false,
}

const decide = (answer: RuntimeConfigAnswer, more: Partial<DriverFacts> = {}) =>
  decideDriver({
    answer,
    configured: { value: 'systemd', source: 'config', place: 'config.yaml:3' },
    rules: ga,
    kubernetes: '1.36',
    os: 'linux',
    standalone: false,
    socket: '/run/x.sock',
    ...more,
  })

const answers = {
  driver: { kind: 'driver', driver: 'cgroupfs' },
  noLinux: { kind: 'no-linux' },
  unimplemented: { kind: 'unimplemented', calls: 2 },
  failed: { kind: 'failed', calls: 3, reason: 'UNAVAILABLE: gone' },
  unknown: { kind: 'unknown-driver', value: 7 },
  notAsked: { kind: 'not-asked' },
} as const satisfies Record<string, RuntimeConfigAnswer>

test('the word of the runtime beats an explicit setting, which is kept to be named', () => {
  expect(decide(answers.driver)).toEqual({
    kind: 'in-use',
    driver: 'cgroupfs',
    source: 'cri',
    fallback: undefined,
    losingSupport: undefined,
    event: false,
    overruled: { value: 'systemd', source: 'config', place: 'config.yaml:3' },
  })
})

test('a default is nothing that could be overruled, and neither is the same word', () => {
  for (const configured of [
    { value: 'systemd', source: 'default', place: 'default' },
    { value: 'cgroupfs', source: 'flag', place: 'flag --cgroup-driver' },
  ] as const)
    expect(decide(answers.driver, { configured })).toMatchObject({ overruled: undefined })
})

for (const { name, answer, more, wanted } of [
  {
    name: 'old runtime, GA: metric and Event',
    answer: answers.unimplemented,
    more: {},
    wanted: {
      driver: 'systemd',
      source: 'config',
      fallback: 'unimplemented',
      losingSupport: '1.37',
      event: true,
    },
  },
  {
    name: 'no linux field: the call is supported, so no metric',
    answer: answers.noLinux,
    more: {},
    wanted: { driver: 'systemd', fallback: 'no-linux', losingSupport: undefined, event: true },
  },
  {
    name: 'standalone: nobody to tell',
    answer: answers.unimplemented,
    more: { standalone: true },
    wanted: { losingSupport: '1.37', event: false },
  },
  {
    name: 'not asked: nothing to fall back from',
    answer: answers.notAsked,
    more: {},
    wanted: {
      driver: 'systemd',
      source: 'config',
      fallback: undefined,
      losingSupport: undefined,
      event: false,
    },
  },
  {
    name: 'Windows without the field: normal, also after removal',
    answer: answers.noLinux,
    more: { os: 'windows' as const, rules: removed },
    wanted: { kind: 'in-use', driver: undefined, fallback: undefined, event: false },
  },
  {
    name: 'Windows never has a driver',
    answer: answers.driver,
    more: { os: 'windows' as const },
    wanted: { driver: undefined, source: 'cri' },
  },
])
  test(`in use: ${name}`, () => expect(decide(answer, more)).toMatchObject(wanted))

const typo = { value: 'sistemd', source: 'flag', place: 'flag --cgroup-driver' } as const

for (const { name, answer, more, code, words } of [
  {
    name: 'old runtime after removal',
    answer: answers.unimplemented,
    more: { rules: removed, kubernetes: '1.37' },
    code: 'driver.runtime-too-old',
    words: ['RuntimeConfig', 'UNIMPLEMENTED', '/run/x.sock', '1.37', 'containerd 2.0', 'CRI-O 1.28'],
  },
  {
    name: 'no linux field after removal',
    answer: answers.noLinux,
    more: { rules: removed },
    code: 'driver.runtime-too-old',
    words: ['RuntimeConfig', 'linux field', 'cgroup driver'],
  },
  {
    name: 'no answer',
    answer: answers.failed,
    more: {},
    code: 'driver.no-answer',
    words: ['RuntimeConfig', '3 times', 'UNAVAILABLE', '/run/x.sock'],
  },
  {
    name: 'unknown number',
    answer: answers.unknown,
    more: {},
    code: 'driver.unknown',
    words: ['unknown cgroup driver 7'],
  },
  {
    name: 'a typo that is needed',
    answer: answers.unimplemented,
    more: { configured: typo },
    code: 'config.invalid',
    words: ['sistemd', 'flag --cgroup-driver'],
  },
])
  test(`refused: ${name}`, () => {
    const decision = decide(answer, more)
    if (decision.kind !== 'refused') throw new Error('it was accepted')
    expect(decision.code).toBe(code)
    for (const word of words) expect(decision.message).toContain(word)
  })

test('a typo that is not needed is harmless, and named as overruled', () => {
  expect(decide(answers.driver, { configured: typo })).toMatchObject({ driver: 'cgroupfs', overruled: typo })
})
