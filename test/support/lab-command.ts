// `keelson lab run` as a process of its own, built as it is shipped, with a temporary directory that only it uses.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { forNode } from '../../scripts/bundling.mjs'
import { buildDashboard } from '../../scripts/dashboard.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface LabCommand {
  readonly child: ChildProcess
  /** Everything temporary of this run is below. */
  readonly dir: string
  readonly stdout: () => string
  readonly stderr: () => string
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
}

let built: string | undefined

/** The command line and the agent bundled like scripts/build.mjs does, apart from dist/, which others may be rebuilding. */
export async function buildCommandLine(): Promise<void> {
  const outdir = mkdtempSync(join(tmpdir(), 'keelson-cli-'))
  await build({
    absWorkingDir: root,
    entryPoints: { main: 'src/cli/main.ts', 'lab-agent': 'src/lab/agent.ts' },
    outdir,
    ...forNode,
    splitting: true,
  })
  await buildDashboard(join(outdir, 'dashboard'))
  cpSync(join(root, 'docs/doctor'), join(outdir, 'docs/doctor'), { recursive: true })
  writeFileSync(join(outdir, 'package.json'), '{"type":"module"}')
  built = outdir
}

export function removeCommandLine(): void {
  if (built !== undefined) rmSync(built, { recursive: true })
  built = undefined
}

/** The bundled command's file. */
export function commandFile(): string {
  if (built === undefined) throw new Error('buildCommandLine() comes first')
  return join(built, 'main.js')
}

export const startLabRun = (args: readonly string[]): LabCommand => startKeelson(['lab', 'run', ...args])

/** `dir`: the temporary directory of an earlier one, to start in its place. */
export function startKeelson(
  args: readonly string[],
  dir = mkdtempSync(join(tmpdir(), 'keelson-lab-test-')),
): LabCommand {
  const child = spawn(process.execPath, [commandFile(), ...args], {
    cwd: root,
    env: { ...process.env, TMPDIR: dir },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const out: Buffer[] = []
  const err: Buffer[] = []
  child.stdout.on('data', (d: Buffer) => out.push(d))
  child.stderr.on('data', (d: Buffer) => err.push(d))
  return {
    child,
    dir,
    stdout: () => Buffer.concat(out).toString(),
    stderr: () => Buffer.concat(err).toString(),
    ended: once(child, 'close').then(([code, signal]) => ({
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
    })),
  }
}
