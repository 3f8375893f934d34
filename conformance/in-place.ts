// Runs a list of checks beside a private containerd, on this machine or inside a machine, and records each as a check of the
// unit. The peers that it needs stand in $LAB_OUT/bin.
import { once } from 'node:events'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { cacheDirectory } from '../src/lab/cache.js'
import { startPrivateContainerd } from '../src/lab/containerd/start-containerd.js'
import { ensureImages } from '../src/lab/images/images.js'
import type { MachineName } from '../src/lab/machine.js'
import { needsOf } from '../src/lab/packages.js'
import { startProgram } from '../src/lab/process.js'
import { exitCodeOf, labRequest, runLab } from '../src/lab/run-machine.js'
import { bundleChecks } from '../test/support/bundle-checks.js'
import { type Check, type CheckResult, resultsFile } from '../test/support/check.js'
import { missingRequirement } from '../test/support/requirements.js'
import type { PeerName } from './peers/catalogue.js'
import type { UnitContext } from './unit.js'

export interface InPlace {
  readonly name: string
  readonly place: 'host' | MachineName
  /** Module that exports `checks`. */
  readonly inside: URL
  readonly peers: readonly PeerName[]
  readonly timeoutS: number
}

const KEEP_OUTPUT = 8_000

async function runThere(o: InPlace, out: string, say: (data: Buffer) => void): Promise<number> {
  const argv = [process.execPath, join(out, 'checks.mjs')]
  if (o.place !== 'host') {
    const sink = new PassThrough().on('data', say)
    const outcome = await runLab(
      labRequest({ machine: o.place, argv, out, timeoutS: o.timeoutS, env: {}, containerd: {} }),
      { stdout: sink, stderr: sink },
    )
    return exitCodeOf(outcome)
  }
  const signal = AbortSignal.timeout(o.timeoutS * 1000)
  const containerd = await startPrivateContainerd({
    archives: [await ensureImages(cacheDirectory(process.env), signal)],
  })
  try {
    const child = startProgram(argv, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, LAB_OUT: out, CONTAINER_RUNTIME_ENDPOINT: containerd.endpoint },
    })
    child.stdout?.on('data', say)
    child.stderr?.on('data', say)
    const [code] = (await once(child, 'close', { signal })) as [number | null]
    return code ?? 128
  } finally {
    await containerd.close()
  }
}

export async function runInPlace(context: UnitContext, o: InPlace): Promise<void> {
  const packages = o.place === 'host' ? (['containerd', 'images'] as const) : needsOf(o.place, true)
  const missing = missingRequirement({ root: true, packages })
  if (missing !== undefined) return context.skip(o.name, missing)
  const out = join(context.directory, o.place)
  await mkdir(join(out, 'bin'), { recursive: true })
  for (const name of o.peers) await copyFile(context.peer(name), join(out, 'bin', name))
  await bundleChecks(o.inside, join(out, 'checks.mjs'))
  await writeFile(join(out, resultsFile), '')
  let output = ''
  const code = await runThere(o, out, (data) => {
    output = (output + data.toString()).slice(-KEEP_OUTPUT)
  })
  const lines = (await readFile(join(out, resultsFile), 'utf8')).split('\n').filter((l) => l !== '')
  for (const result of lines.map((l) => JSON.parse(l) as CheckResult))
    await context.check(`${o.name}: ${result.name}`, async () => {
      if (!result.ok) throw new Error(`${result.error ?? 'failed'}\n${output}`)
      if (result.values !== undefined) context.note(JSON.stringify(result.values))
    })
  const { checks } = (await import(o.inside.href)) as { readonly checks: readonly Check[] }
  await context.check(`${o.name}: every check ran`, async () => {
    if (lines.length !== checks.length)
      throw new Error(`${lines.length} of ${checks.length}; the run ended with ${code}\n${output}`)
  })
}
