// Every check on a sound node, on one that it must complain about, and what it says then.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { cgroups, healthy, kubelet, loadedWith } from '../../../test/doctor/healthy.js'
import { innocents, problems } from '../../../test/doctor/problems.js'
import { requiredMetrics } from '../../stats/catalogue/required.js'
import { fixes } from '../fixes/index.js'
import { exitStatusOf, pageOf, runChecks, selectChecks } from '../run-checks.js'
import { checks } from './index.js'

const root = resolve(import.meta.dirname, '../../..')
const only = (name: string) => selectChecks(checks, { only: [name], skip: [] })

test('a sound node has no finding at all', () => {
  const report = runChecks(checks, healthy())
  expect(report.answers.filter((a) => a.severity !== 'ok')).toEqual([])
  expect(exitStatusOf(report)).toBe(0)
})

describe('finds its problem', () => {
  for (const { check, name, facts, severity, says } of problems)
    test(`${check}: ${name}`, () => {
      const [answer] = runChecks(only(check), facts).answers
      expect(answer?.severity, JSON.stringify(answer)).toBe(severity)
      const worst = answer?.findings.filter((f) => f.severity === severity) ?? []
      expect(worst.map((f) => f.message).join('\n')).toMatch(says)
      if (severity === 'warn' || severity === 'error')
        for (const f of worst) expect(f.remedy?.length, f.message).toBeGreaterThan(5)
    })

  test('each check has such a node', () => {
    const covered = new Set(problems.map((p) => p.check))
    expect(checks.map((c) => c.name).filter((n) => !covered.has(n))).toEqual([])
  })
})

describe('does not call ill what is not', () => {
  for (const { check, name, facts } of innocents)
    test(`${check}: ${name}`, () => {
      const [answer] = runChecks(only(check), facts).answers
      expect(['ok', 'info'], JSON.stringify(answer)).toContain(answer?.severity)
    })
})

test('nothing to look at is not asked, and never a finding', () => {
  const bare = healthy({
    machine: undefined,
    cgroups: undefined,
    runtime: undefined,
    runtimeFacts: undefined,
    sockets: undefined,
    host: { ...healthy().host, cgroupV2: undefined, kernelRelease: undefined, kubeletVersion: undefined },
    kubelet: kubelet({
      source: undefined,
      process: undefined,
      files: [],
      ports: kubelet().ports.map((p) => ({ ...p, answer: 'closed' as const })),
    }),
  })
  const bad = runChecks(checks, bare).answers.filter((a) => a.severity === 'warn' || a.severity === 'error')
  expect(bad.map((a) => a.name)).toEqual(['runtime-answers'])
})

test('on cgroup v1 nothing is said about files that v1 does not have', () => {
  const v1 = cgroups({ mode: 'hybrid', pods: [], podTrees: { cgroupfs: '/kubepods', systemd: undefined } })
  const report = runChecks(checks, healthy({ cgroups: v1 }))
  expect(report.answers.filter((a) => a.severity === 'warn' || a.severity === 'error')).toEqual([])
})

test('the exit status follows the worst finding', () => {
  const status = (name: string) => {
    const found = problems.find((p) => p.name === name)
    return found === undefined ? undefined : exitStatusOf(runChecks(only(found.check), found.facts))
  }
  expect(status('no PSI')).toBe(0)
  expect(status('kernel 5.4')).toBe(3)
  expect(status('dead socket')).toBe(4)
})

test('a check that does not exist is a usage error with the right name', () => {
  expect(() => selectChecks(checks, { only: ['kernl'], skip: [] })).toThrow(
    /unknown check kernl; did you mean kernel/,
  )
})

describe('fixes', () => {
  const plan = (name: string, facts = healthy()) => fixes.find((f) => f.check === name)?.plan(facts)

  test('a sound node has nothing to fix', () => {
    for (const fix of fixes) expect(fix.plan(healthy()), fix.check).toEqual([])
  })

  test('each belongs to a check', () => {
    const names = checks.map((c) => c.name)
    for (const { check } of fixes) expect(names).toContain(check)
  })

  test('left-over values are cleared, only with the gate off', () => {
    const off = kubelet({ loaded: loadedWith('', { flags: ['--feature-gates=MemoryQoS=false'] }) })
    const steps = plan('stale-values', healthy({ kubelet: off }))
    expect(steps).toContainEqual({ kind: 'write', cgroup: '/kubepods', file: 'memory.min', value: '0' })
    expect(steps).toHaveLength(4 * 3)
    expect(plan('stale-values', healthy({ kubelet: { ...off, source: undefined } }))).toEqual([])
  })

  test('files lose the rights of others and gain none', () => {
    const files = [
      { path: '/var/lib/keelson/token', mode: 0o644, uid: 0 },
      { path: '/var/lib/kubelet/config.yaml', mode: 0o666, uid: 0 },
    ]
    expect(plan('kubelet-files', healthy({ kubelet: kubelet({ files }) }))).toEqual([
      { kind: 'mode', path: '/var/lib/keelson/token', mode: 0o600 },
      { kind: 'mode', path: '/var/lib/kubelet/config.yaml', mode: 0o644 },
    ])
  })
})

test('each check has its page, with the question and what to do', () => {
  for (const { name, asks } of checks) {
    const file = resolve(root, pageOf(name))
    expect(existsSync(file), pageOf(name)).toBe(true)
    const page = readFileSync(file, 'utf8')
    expect(page, name).toContain(asks)
    for (const part of ['## What it checks', '## What to do']) expect(page, name).toContain(part)
  }
  const pages = readdirSync(resolve(root, 'docs/doctor')).map((f) => f.replace(/\.md$/, ''))
  expect(pages.filter((p) => !checks.some((c) => c.name === p))).toEqual([])
  const overview = readFileSync(resolve(root, 'docs/doctor.md'), 'utf8')
  for (const { name } of checks) expect(overview).toContain(`(doctor/${name}.md)`)
})

test('the required metrics are those of the catalogue', () => {
  const { metrics } = JSON.parse(
    readFileSync(resolve(root, 'test/fixtures/cadvisor-metrics.json'), 'utf8'),
  ) as { metrics: readonly { name: string; requiredByCritest: boolean }[] }
  expect(requiredMetrics).toEqual(
    metrics
      .filter((m) => m.requiredByCritest)
      .map((m) => m.name)
      .sort(),
  )
})
