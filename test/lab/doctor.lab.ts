// The doctor on real nodes: nothing to say about a healthy one, the right thing about real troubles, and quickly.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startPrivateContainerd } from '../../src/lab/containerd/start-containerd.js'
import { needsOf } from '../../src/lab/packages.js'
import {
  buildCommandLine,
  commandFile,
  removeCommandLine,
  startKeelson,
  startLabRun,
} from '../support/lab-command.js'
import { requires } from '../support/requirements.js'

interface Answer {
  readonly name: string
  readonly severity: 'ok' | 'info' | 'warn' | 'error' | 'skipped'
  readonly findings: readonly { readonly message: string; readonly severity: string }[]
}

const wholeRunMs = 3_000

beforeAll(buildCommandLine)
afterAll(removeCommandLine)

const bad = (answers: readonly Answer[]): string[] =>
  answers.filter((a) => a.severity === 'warn' || a.severity === 'error').map((a) => `${a.severity} ${a.name}`)

describe('a node behind our CRI server', () => {
  const out = mkdtempSync(join(tmpdir(), 'keelson-doctor-'))
  afterAll(() => rmSync(out, { recursive: true, force: true }))
  const answersOf = (name: string): readonly Answer[] =>
    (JSON.parse(readFileSync(join(out, `${name}.json`), 'utf8')) as { checks: readonly Answer[] }).checks
  let looks = new Map<string, number>()

  test('is looked at', async (ctx) => {
    requires(ctx, { root: true, packages: [...needsOf('uml', true), 'disk'] })
    const script = new URL('./inside/doctor-node.sh', import.meta.url).pathname
    const disk = join(out, 'disk.img')
    writeFileSync(disk, '')
    truncateSync(disk, 256 * 1024 * 1024)
    const flags = ['--timeout', '500', '--out', out, '--disk', disk]
    const run = startLabRun([...flags, '--', 'bash', script, commandFile()])
    const { code } = await run.ended
    assert.equal(code, 0, `${run.stdout()}\n${run.stderr()}`)
    console.log(run.stdout())
    looks = new Map(
      [...run.stdout().matchAll(/^(\S+) (\d+) \d+$/gm)].map(([, name = '', status]) => [
        name,
        Number(status),
      ]),
    )
    expect([...looks.keys()]).toEqual(['healthy', 'old-runtime', 'no-runtime', 'throttled', 'stuck', 'chain'])
    rmdirSync(run.dir)
  })

  test('healthy: no warning and no error; what this kernel lacks is information', (ctx) => {
    requires(ctx, { root: true, packages: [...needsOf('uml', true), 'disk'] })
    const answers = answersOf('healthy')
    expect(bad(answers), JSON.stringify(answers.flatMap((a) => a.findings))).toEqual([])
    expect(answers.find((a) => a.name === 'psi')?.severity).toBe('info')
    // Not left out: both looked at the pods of this node.
    for (const name of ['protection-chain', 'unified-support', 'cgroup-driver', 'metrics'])
      expect(['ok', 'info'], name).toContain(answers.find((a) => a.name === name)?.severity)
    expect(looks.get('healthy')).toBe(0)
  })

  for (const { name, status, finds } of [
    { name: 'old-runtime', status: 3, finds: 'warn runtime-config' },
    { name: 'no-runtime', status: 4, finds: 'error runtime-answers' },
    { name: 'throttled', status: 3, finds: 'warn throttling' },
    { name: 'stuck', status: 4, finds: 'error livelock' },
    { name: 'chain', status: 4, finds: 'error protection-chain' },
  ])
    test(`${name}: ${finds}`, (ctx) => {
      requires(ctx, { root: true, packages: [...needsOf('uml', true), 'disk'] })
      expect(bad(answersOf(name))).toContain(finds)
      expect(looks.get(name)).toBe(status)
    })
})

test('a full run over a real runtime takes at most three seconds', async (ctx) => {
  requires(ctx, { root: true, packages: ['containerd', 'images'] })
  const containerd = await startPrivateContainerd({ archives: [] })
  try {
    const times: number[] = []
    // Another program may have the machine for a moment: the best of three is the doctor's own time.
    for (let i = 0; i < 3; i++) {
      const began = performance.now()
      const run = startKeelson(['doctor', '--runtime-endpoint', containerd.endpoint])
      await run.ended
      times.push(performance.now() - began)
      rmdirSync(run.dir)
      expect(run.stdout(), run.stderr()).toMatch(/27 checks/)
    }
    console.log(`doctor: ${times.map((t) => t.toFixed(0)).join(', ')} ms`)
    expect(Math.min(...times)).toBeLessThanOrEqual(wholeRunMs)
  } finally {
    await containerd.close()
  }
})
