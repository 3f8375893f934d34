// KEP-4033 seen from outside the process: for each stage and outcome the real command is started beside a scripted
// runtime, and exit status, log lines and /metrics are looked at.
import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deprecatedFallbackLine } from '../../src/core/driver/decide-driver.js'
import type { AnswerOf } from '../../src/fakes/cri/answers.js'
import { runtimeConfig } from '../../src/fakes/cri/shapes.js'
import { configuredDriverIgnoredLine, driverFromCriLine } from '../../src/kubelet/driver/driver-report.js'
import { type Bundle, bundleCommand } from '../support/command.js'
import { type KubeletProcess, onThisHost, startKubeletProcess } from './kubelet-process.js'

let bundle: Bundle
beforeAll(async () => {
  bundle = await bundleCommand()
})
afterAll(() => bundle.remove())

type Answers = AnswerOf<'RuntimeConfig'> | readonly AnswerOf<'RuntimeConfig'>[]

interface Case {
  readonly name: string
  readonly version: string
  readonly answers: Answers
  readonly flags?: readonly string[]
}

const unimplemented = { code: 'UNIMPLEMENTED', message: 'unknown method RuntimeConfig' } as const
const gate = (on: boolean): string => `--feature-gates=KubeletCgroupDriverFromCRI=${on}`

async function withKubelet(c: Case, look: (k: KubeletProcess) => Promise<void>): Promise<void> {
  const minor = Number(c.version.split('.')[1])
  const kubelet = await startKubeletProcess(bundle.main, {
    scripts: { RuntimeConfig: c.answers },
    flags: [`--kubernetes-version=${c.version}`, ...onThisHost(minor), ...(c.flags ?? [])],
  })
  try {
    await look(kubelet)
  } finally {
    await kubelet.remove()
  }
}

const asked = (k: KubeletProcess): number => k.runtime.callsOf('RuntimeConfig').length
const family = 'kubelet_cri_losing_support'

interface Start extends Case {
  readonly calls: number
  readonly source: string
  readonly says?: readonly string[]
  /** Label of the gauge; undefined: the family is not there. */
  readonly losing?: string
}

const starts: readonly Start[] = [
  {
    name: 'before the feature',
    version: '1.27',
    answers: runtimeConfig.systemd,
    calls: 0,
    source: 'default',
  },
  {
    name: 'alpha, gate not given',
    version: '1.30',
    answers: { code: 'INTERNAL' },
    calls: 0,
    source: 'default',
  },
  {
    name: 'alpha, gate on',
    version: '1.29',
    answers: runtimeConfig.cgroupfs,
    flags: [gate(true)],
    calls: 1,
    source: 'cri',
    says: [driverFromCriLine],
  },
  {
    name: 'beta, gate off',
    version: '1.33',
    answers: runtimeConfig.systemd,
    flags: [gate(false)],
    calls: 0,
    source: 'default',
  },
  {
    name: 'beta, the runtime is too old',
    version: '1.32',
    answers: unimplemented,
    flags: ['--cgroup-driver=cgroupfs'],
    calls: 1,
    source: 'flag',
    says: [deprecatedFallbackLine, 'flag --cgroup-driver is deprecated'],
  },
  {
    name: 'GA, the runtime overrules the flag',
    version: '1.34',
    answers: runtimeConfig.cgroupfs,
    flags: ['--cgroup-driver=systemd'],
    calls: 1,
    source: 'cri',
    says: [driverFromCriLine, configuredDriverIgnoredLine],
  },
  {
    name: 'GA, the runtime is too old',
    version: '1.34',
    answers: unimplemented,
    calls: 1,
    source: 'default',
    says: [deprecatedFallbackLine],
    losing: '1.37',
  },
  {
    name: 'GA, the answer has no linux field',
    version: '1.35',
    answers: runtimeConfig.absentLinux,
    calls: 1,
    source: 'default',
    says: [deprecatedFallbackLine],
  },
  {
    name: 'upstream 1.37 still falls back',
    version: '1.37',
    flags: ['--profile=upstream'],
    answers: unimplemented,
    calls: 1,
    source: 'default',
    says: [deprecatedFallbackLine],
    losing: '1.38.0',
  },
  {
    name: 'fallback removed, the runtime answers and the flag has no effect',
    version: '1.37',
    flags: ['--cgroup-driver=systemd'],
    answers: runtimeConfig.cgroupfs,
    calls: 1,
    source: 'cri',
    says: ['--cgroup-driver has no effect', configuredDriverIgnoredLine],
  },
]

describe('starts', () => {
  for (const c of starts)
    test(`${c.version}: ${c.name}`, () =>
      withKubelet(c, async (kubelet) => {
        await kubelet.says('the kubelet is up')
        expect(asked(kubelet)).toBe(c.calls)
        expect(kubelet.output()).toContain(`cgroupDriver="cgroupfs" source="${c.source}"`)
        for (const line of c.says ?? []) expect(kubelet.output()).toContain(line)
        if (c.says?.includes(deprecatedFallbackLine) !== true)
          expect(kubelet.output()).not.toContain(deprecatedFallbackLine)
        const metrics = await kubelet.page('/metrics')
        if (c.losing === undefined) expect(metrics).not.toContain(family)
        else {
          expect(metrics).toContain(`# TYPE ${family} gauge\n`)
          expect(metrics).toContain(`${family}{version="${c.losing}"} 1\n`)
        }
        expect(await kubelet.end('SIGTERM')).toBe(0)
        expect(kubelet.output()).toContain('"stopped"')
      }))
})

interface Exit extends Case {
  readonly calls: number
  readonly status: 1 | 2
  readonly words: readonly string[]
  /** From the first call to the end. */
  readonly withinMs?: readonly [number, number]
}

const slow = '--runtime-request-timeout=1s'
/** Two waits of 2 s, and time for a busy machine. */
const threeCalls = [3900, 20_000] as const

const exits: readonly Exit[] = [
  {
    name: 'before the feature, gate given',
    version: '1.27',
    flags: [gate(true)],
    answers: runtimeConfig.cgroupfs,
    calls: 0,
    status: 2,
    words: ['unrecognized', 'KubeletCgroupDriverFromCRI', '[config.invalid]'],
  },
  {
    name: 'GA, gate false',
    version: '1.34',
    flags: [gate(false)],
    answers: runtimeConfig.cgroupfs,
    calls: 0,
    status: 2,
    words: ['locked', 'KubeletCgroupDriverFromCRI'],
  },
  {
    name: 'fallback removed, the runtime is too old',
    version: '1.37',
    answers: unimplemented,
    calls: 1,
    status: 1,
    words: ['RuntimeConfig', 'UNIMPLEMENTED', 'containerd 2.0', 'CRI-O 1.28', '[driver.runtime-too-old]'],
    withinMs: [0, 10_000],
  },
  {
    name: 'fallback removed, no linux field',
    version: '1.37',
    answers: runtimeConfig.absentLinux,
    calls: 1,
    status: 1,
    words: ['RuntimeConfig', 'linux field', '[driver.runtime-too-old]'],
  },
  {
    name: 'a driver from the future',
    version: '1.35',
    answers: runtimeConfig.unknownDriver(7),
    calls: 1,
    status: 1,
    words: ['unknown cgroup driver 7', '[driver.unknown]'],
    withinMs: [0, 10_000],
  },
  {
    name: 'the runtime hangs',
    version: '1.36',
    flags: [slow],
    answers: { hang: true },
    calls: 3,
    status: 1,
    words: ['RuntimeConfig', 'failed 3 times', 'DEADLINE_EXCEEDED', '/cri.sock', '[driver.no-answer]'],
    withinMs: [4500, 20_000],
  },
  {
    name: 'the connection breaks in mid-answer, again and again',
    version: '1.36',
    answers: { drop: 'mid-answer' },
    calls: 3,
    status: 1,
    words: ['RuntimeConfig', 'failed 3 times', '[driver.no-answer]'],
    withinMs: threeCalls,
  },
  {
    name: 'the runtime refuses',
    version: '1.36',
    answers: { code: 'PERMISSION_DENIED', message: 'no' },
    calls: 3,
    status: 1,
    words: ['RuntimeConfig', 'PERMISSION_DENIED', '[driver.no-answer]'],
    withinMs: threeCalls,
  },
  {
    name: 'a flag nobody knows',
    version: '1.36',
    flags: ['--cgroup-drivr=systemd'],
    answers: runtimeConfig.cgroupfs,
    calls: 0,
    status: 2,
    words: ['unknown flag: --cgroup-drivr', 'cgroup-driver', '[usage.invalid]'],
  },
]

describe.concurrent('does not start', () => {
  for (const c of exits)
    test(`${c.version}: ${c.name}`, () =>
      withKubelet(c, async (kubelet) => {
        expect(await kubelet.ended).toBe(c.status)
        const endedMs = performance.now()
        expect(asked(kubelet)).toBe(c.calls)
        const lines = kubelet.output().trimEnd().split('\n')
        const last = lines.slice(lines.findIndex((l) => l.startsWith('keelson: '))).join('\n')
        for (const word of c.words) expect(last).toContain(word)
        expect(kubelet.output()).not.toContain('the kubelet is up')
        const first = kubelet.runtime.callsOf('RuntimeConfig')[0]
        if (c.withinMs === undefined || first === undefined) return
        expect(endedMs - first.atMs).toBeGreaterThan(c.withinMs[0])
        expect(endedMs - first.atMs).toBeLessThan(c.withinMs[1])
      }))
})

const recoveries: readonly { name: string; failures: number; answers: Answers; flags?: readonly string[] }[] =
  [
    { name: 'at once', failures: 0, answers: runtimeConfig.cgroupfs },
    { name: 'after one failure', failures: 1, answers: [{ code: 'UNAVAILABLE' }, runtimeConfig.cgroupfs] },
    {
      name: 'after a hang and a cut-off answer',
      failures: 2,
      answers: [{ hang: true }, { ...runtimeConfig.cgroupfs, drop: 'mid-answer' }, runtimeConfig.cgroupfs],
      flags: [slow],
    },
  ]

describe.concurrent('a runtime that answers', () => {
  for (const { name, failures, answers, flags = [] } of recoveries)
    test(name, () =>
      withKubelet({ name, version: '1.36', answers, flags }, async (kubelet) => {
        await kubelet.says('the kubelet is up')
        expect(asked(kubelet)).toBe(failures + 1)
        const at = kubelet.runtime.callsOf('RuntimeConfig').map((c) => c.atMs)
        for (const [i, ms] of at.slice(1).entries()) {
          expect(ms - (at[i] ?? 0)).toBeGreaterThan(1990)
          expect(ms - (at[i] ?? 0)).toBeLessThan(15_000)
        }
        expect(await kubelet.end('SIGINT')).toBe(0)
      }),
    )
})

describe('the host', () => {
  const emptyLinux: Case = { name: 'empty linux', version: '1.35', answers: runtimeConfig.emptyLinux }
  const hostHasSystemd = existsSync('/run/systemd/system')

  test('an empty linux field is systemd, and a host without systemd says so', (ctx) => {
    if (hostHasSystemd) return ctx.skip('this machine runs systemd')
    return withKubelet(emptyLinux, async (kubelet) => {
      expect(await kubelet.ended).toBe(1)
      expect(kubelet.output()).toContain('cgroupDriver="systemd" source="cri"')
      expect(kubelet.output()).toContain('[driver.no-systemd]')
    })
  })

  test('cgroup v1 is refused by default from 1.35 on, with the remedy', async (ctx) => {
    if (existsSync('/sys/fs/cgroup/cgroup.controllers')) return ctx.skip('this machine has cgroup v2')
    const kubelet = await startKubeletProcess(bundle.main, {
      scripts: { RuntimeConfig: runtimeConfig.cgroupfs },
      flags: ['--kubernetes-version=1.35'],
    })
    try {
      expect(await kubelet.ended).toBe(1)
      expect(kubelet.output()).toContain('failCgroupV1: false')
      expect(kubelet.output()).toContain('[host.cgroup-v1]')
    } finally {
      await kubelet.remove()
    }
  })
})
