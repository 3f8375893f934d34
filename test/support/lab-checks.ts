// "Run these checks inside that kernel": one boot for a list of checks, each reported as a test of its own.
//   await labChecks('cgroup v2', { place: 'uml' }, new URL('./inside/cgroups.ts', import.meta.url))

import { once } from 'node:events'
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { cacheDirectory } from '../../src/lab/cache.js'
import { startPrivateContainerd } from '../../src/lab/containerd/start-containerd.js'
import { ensureImages } from '../../src/lab/images/images.js'
import type { GuestContainerd, MachineName } from '../../src/lab/machine.js'
import { needsOf } from '../../src/lab/packages.js'
import { startProgram } from '../../src/lab/process.js'
import { exitCodeOf, labRequest, runLab } from '../../src/lab/run-machine.js'
import { bundleChecks } from './bundle-checks.js'
import { type Check, type CheckResult, resultsFile } from './check.js'
import { missingRequirement, type Requirements } from './requirements.js'

export interface LabChecksOptions {
  /** A fixture, or the machine that the tests run on. */
  readonly place: MachineName | 'host'
  readonly containerd?: GuestContainerd
  readonly memoryMiB?: number
  readonly cpus?: number
  /** Sizes of fresh disks in MiB; inside, $LAB_DISKS names their devices. */
  readonly disksMiB?: readonly number[]
  readonly timeoutS?: number
  readonly env?: Readonly<Record<string, string>>
}

const requirementsOf = (o: LabChecksOptions): Requirements =>
  o.place === 'host'
    ? { root: true, packages: o.containerd === undefined ? [] : ['containerd', 'images'] }
    : { root: true, packages: needsOf(o.place, o.containerd !== undefined) }

interface Run {
  readonly results: ReadonlyMap<string, CheckResult>
  readonly output: string
  readonly code: number
}

const keepOutput = 8000

async function runBundle(
  o: LabChecksOptions,
  out: string,
  argv: readonly string[],
): Promise<Omit<Run, 'results'>> {
  let output = ''
  const take = (data: Buffer | string): void => {
    output = (output + String(data)).slice(-keepOutput)
  }
  if (o.place !== 'host') {
    const sink = new PassThrough().on('data', take)
    const disks = await Promise.all(
      (o.disksMiB ?? []).map(async (mib, i) => {
        const file = join(out, `disk${i}.img`)
        await writeFile(file, '')
        await truncate(file, mib * 1024 * 1024)
        return file
      }),
    )
    const outcome = await runLab(
      labRequest({
        machine: o.place,
        argv,
        out,
        disks,
        timeoutS: o.timeoutS ?? 300,
        env: o.env ?? {},
        ...(o.containerd === undefined ? {} : { containerd: o.containerd }),
        ...(o.memoryMiB === undefined ? {} : { memoryMiB: o.memoryMiB }),
        ...(o.cpus === undefined ? {} : { cpus: o.cpus }),
      }),
      { stdout: sink, stderr: sink },
    )
    if (outcome.kind !== 'exit') take(`\n${JSON.stringify(outcome)}`)
    return { output, code: exitCodeOf(outcome) }
  }
  const signal = AbortSignal.timeout((o.timeoutS ?? 300) * 1000)
  const containerd =
    o.containerd === undefined
      ? undefined
      : await startPrivateContainerd({
          ...o.containerd,
          archives: [
            await ensureImages(cacheDirectory(process.env), signal),
            ...(o.containerd.archives ?? []),
          ],
        })
  try {
    const child = startProgram(argv, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        LAB_BED: 'host',
        LAB_OUT: out,
        ...(containerd === undefined ? {} : { CONTAINER_RUNTIME_ENDPOINT: containerd.endpoint }),
        ...o.env,
      },
    })
    child.stdout?.on('data', take)
    child.stderr?.on('data', take)
    const [code] = (await once(child, 'close', { signal })) as [number | null]
    return { output, code: code ?? 128 }
  } finally {
    await containerd?.close()
  }
}

async function readResults(out: string): Promise<Map<string, CheckResult>> {
  const text = await readFile(join(out, resultsFile), 'utf8').catch(() => '')
  const lines = text.split('\n').filter((l) => l !== '')
  return new Map(lines.map((l) => JSON.parse(l) as CheckResult).map((r) => [r.name, r]))
}

export async function labChecks(name: string, options: LabChecksOptions, file: URL): Promise<void> {
  const { checks } = (await import(file.href)) as { readonly checks: readonly Check[] }
  const missing = missingRequirement(requirementsOf(options))
  describe(name, () => {
    let run: Run | Error | undefined
    let out: string | undefined
    beforeAll(
      async () => {
        if (missing !== undefined) return
        out = await mkdtemp(join(tmpdir(), 'keelson-checks-'))
        const module = join(out, 'checks.mjs')
        try {
          await bundleChecks(fileURLToPath(file), module)
          const argv = [process.execPath, '--enable-source-maps', module]
          const ended = await runBundle(options, out, argv)
          run = { ...ended, results: await readResults(out) }
        } catch (e) {
          run = e instanceof Error ? e : new Error(String(e))
        }
      },
      ((options.timeoutS ?? 300) + 240) * 1000,
    )
    afterAll(async () => {
      if (out !== undefined) await rm(out, { recursive: true, force: true })
    })
    for (const check of checks)
      test(check.name, (ctx) => {
        if (missing !== undefined) {
          if (process.env.CI === 'true') throw new Error(`CI is set, but this test ${missing}`)
          return ctx.skip(missing)
        }
        const skipped = report(check, run)
        if (skipped !== undefined) ctx.skip(skipped)
      })
  })
}

/** The reason when the check did not apply; throws when it failed. */
function report(check: Check, run: Run | Error | undefined): string | undefined {
  if (run === undefined) throw new Error('the checks did not run')
  if (run instanceof Error) throw run
  const result = run.results.get(check.name)
  if (result === undefined)
    throw new Error(`no result; the run ended with status ${run.code}, its last output:\n${run.output}`)
  if (!result.ok) throw new Error(`${result.error ?? 'failed'}\noutput of the run:\n${run.output}`)
  if (result.values !== undefined) console.log(`${check.name}: ${JSON.stringify(result.values)}`)
  return result.skipped
}
