// The values of each runtime beside the kernel's, through `keelson cri`: passed on, every difference is a known defect;
// repaired, there is none.
import { once } from 'node:events'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheDirectory } from '../../src/lab/cache.js'
import { ensureImages } from '../../src/lab/images/images.js'
import { startProgram } from '../../src/lab/process.js'
import { bundleChecks } from '../../test/support/bundle-checks.js'
import { type CheckResult, resultsFile } from '../../test/support/check.js'
import { missingRequirement } from '../../test/support/requirements.js'
import type { PeerName } from '../peers/catalogue.js'
import { type Unit, type UnitContext, UsageError } from '../unit.js'

/** Commands in front of $PATH, and the peers that they are. */
const runtimes: Readonly<Record<string, Readonly<Record<string, PeerName>>>> = {
  'containerd-1.6': {},
  'containerd-1.7': {
    containerd: 'containerd-1.7',
    'containerd-shim-runc-v2': 'containerd-shim-runc-v2-1.7',
    ctr: 'ctr-1.7',
  },
  'containerd-2': {
    containerd: 'containerd',
    'containerd-shim-runc-v2': 'containerd-shim-runc-v2',
    ctr: 'ctr',
  },
}
const names = Object.keys(runtimes)
const timeoutMs = 10 * 60_000
const keepOutput = 6_000

async function runRuntime(context: UnitContext, name: string): Promise<void> {
  const out = join(context.directory, name)
  await mkdir(join(out, 'bin'), { recursive: true })
  for (const [command, peer] of Object.entries(runtimes[name] ?? {}))
    await copyFile(context.peer(peer), join(out, 'bin', command))
  await copyFile(
    await ensureImages(cacheDirectory(process.env), AbortSignal.timeout(120_000)),
    join(out, 'images.tar'),
  )
  await bundleChecks(new URL('../values/inside.ts', import.meta.url), join(out, 'checks.mjs'))
  await writeFile(join(out, resultsFile), '')
  let output = ''
  const child = startProgram([process.execPath, join(out, 'checks.mjs')], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, LAB_OUT: out, PATH: `${join(out, 'bin')}:${process.env.PATH ?? ''}` },
  })
  const say = (data: Buffer): void => {
    output = (output + data.toString()).slice(-keepOutput)
  }
  child.stdout?.on('data', say)
  child.stderr?.on('data', say)
  await once(child, 'close', { signal: AbortSignal.timeout(timeoutMs) })
  const lines = (await readFile(join(out, resultsFile), 'utf8')).split('\n').filter((l) => l !== '')
  for (const result of lines.map((l) => JSON.parse(l) as CheckResult))
    await context.check(`${name}: ${result.name}`, async () => {
      if (!result.ok) throw new Error(`${result.error ?? 'failed'}\n${output}`)
      if (result.values !== undefined) context.note(JSON.stringify(result.values))
    })
  const { checks } = await import('../values/inside.js')
  await context.check(`${name}: every check ran`, async () => {
    if (lines.length !== checks.length) throw new Error(`${lines.length} of ${checks.length}\n${output}`)
  })
}

export const values: Unit = {
  name: 'values',
  summary: "each runtime's values beside the kernel's, passed on and repaired by keelson cri",
  peers: [...new Set(Object.values(runtimes).flatMap((r) => Object.values(r)))],
  options: { runtime: { type: 'string', summary: `one of ${names.join(', ')}; default: all` } },
  checkOptions({ runtime }) {
    if (runtime !== undefined && !names.includes(String(runtime)))
      throw new UsageError(`--runtime ${String(runtime)}: use one of ${names.join(', ')}`)
  },
  missing: () => missingRequirement({ root: true, packages: ['containerd', 'images'] }),
  async run(context) {
    const { runtime } = context.options
    for (const name of names) if (runtime === undefined || runtime === name) await runRuntime(context, name)
  },
}
