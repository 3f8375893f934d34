// Runs a program in a node environment with a runtime, and collects its lines of checks.
import { cp, mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { forNode } from '../../scripts/bundling.mjs'
import { findCommand } from '../../src/lab/packages.js'
import { mustRun } from '../../src/lab/process.js'
import { testImages } from '../critest/image-list.js'
import { readImagePrograms, writeImagePrograms } from '../critest/image-programs.js'
import { writeLayout } from '../images/layout.js'
import { insideDirectory, type Place, type RuntimeName } from '../node-environment/plan.js'
import { runtimePrograms, writeKeelson } from '../node-environment/programs.js'
import { startEnvironment } from '../node-environment/start.js'
import { startMachine } from '../node-environment/start-in-machine.js'
import { cacheRoot } from '../peers/build.js'
import type { PeerName } from '../peers/catalogue.js'
import { type CheckLine, checkPrefix } from './check-line.js'

const KEEP_OUTPUT = 4_000
const KEEP_LOG = 1_500

export interface ProgramRun {
  readonly place: Place
  readonly runtime: RuntimeName
  /** Source file, bundled into the environment. */
  readonly program: string
  readonly argument: unknown
  /** An empty directory that this run may fill; removed afterwards by the environment. */
  readonly directory: string
  readonly timeoutMs: number
  /** Files of logs go there. */
  readonly keep?: string | undefined
  peer(name: PeerName): string
}

export interface ProgramResult {
  readonly checks: readonly CheckLine[]
  readonly status: number
  /** What it printed last and the ends of its logs, for a run that did not come to its end. */
  readonly output: string
}

/** critest's images and the sandbox image of the runtimes. */
async function writeImages(directory: string): Promise<string> {
  const programs = join(directory, 'image-programs')
  await writeImagePrograms(programs)
  const list = (await mustRun([join(programs, 'busybox'), '--list'])).split('\n')
  const applets = list.filter((a) => a !== '' && a !== 'busybox')
  const images = testImages(await readImagePrograms(programs), applets).map((image) =>
    image.repository === 'pause' ? { ...image, tags: [...image.tags, '3.10.2'] } : image,
  )
  await writeLayout(join(directory, 'layout'), images)
  return join(insideDirectory, 'layout')
}

async function endsOfLogs(out: string): Promise<string> {
  const files = (await readdir(out).catch(() => [])).filter((f) => f.endsWith('.log'))
  const texts = await Promise.all(
    files.map(async (f) => `${f}: ...${(await readFile(join(out, f), 'utf8')).slice(-KEEP_LOG)}`),
  )
  return texts.join('\n')
}

/** Commands that the environment needs of Debian. */
export const missingFor = (runtime: RuntimeName): string | undefined =>
  runtime === 'cri-o' && findCommand('conmon') === undefined
    ? 'CRI-O needs conmon; as root run: apt-get install -y conmon'
    : undefined

export async function runProgram(run: ProgramRun): Promise<ProgramResult> {
  const { directory, place } = run
  await mkdir(join(directory, 'out'), { recursive: true })
  await writeKeelson(directory)
  await build({ ...forNode, entryPoints: [run.program], outfile: join(directory, 'program.mjs') })
  const checks: CheckLine[] = []
  let output = ''
  let rest = ''
  const request = {
    directory,
    cache: cacheRoot(),
    runtime: run.runtime,
    programs: runtimePrograms(run.runtime, run.peer),
    imageLayout: await writeImages(directory),
    systemdStandIns: false,
    argv: [process.execPath, join(insideDirectory, 'program.mjs'), JSON.stringify(run.argument)],
    cwd: join(insideDirectory, 'out'),
    env: { HOME: '/root', TMPDIR: '/tmp' },
    onOutput(text: string) {
      output = (output + text).slice(-KEEP_OUTPUT)
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines)
        if (line.startsWith(checkPrefix)) checks.push(JSON.parse(line.slice(checkPrefix.length)) as CheckLine)
    },
  }
  const environment =
    place === 'host'
      ? await startEnvironment(request)
      : await startMachine({ ...request, machine: place, timeoutMs: run.timeoutMs })
  const timer = setTimeout(() => void environment.close().catch(() => {}), run.timeoutMs)
  try {
    const status = await environment.ended
    const out = join(directory, 'out')
    if (run.keep !== undefined) await cp(out, run.keep, { recursive: true })
    return { checks, status, output: `${output}\n${await endsOfLogs(out)}` }
  } finally {
    clearTimeout(timer)
    await environment.close()
  }
}
