// node inside.mjs OPTIONS, in a node environment: the stacks in turns on one containerd; the results go to a file as JSON.
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readCgroupLayout } from '../../src/adapters/cgroups/detect.js'
import { createCgroupTree } from '../../src/adapters/cgroups/tree.js'
import { emptyRuntime } from '../empty-runtime.js'
import type { StackName } from './stack.js'
import { runTurn, type Turn, type TurnOptions } from './turn.js'
import { processesNamed } from './usage.js'

export type InsideOptions = Omit<TurnOptions, 'log' | 'certificates'> & {
  readonly stacks: readonly StackName[]
  readonly turns: number
  readonly results: string
}

async function clearRuntime(socket: string): Promise<void> {
  await emptyRuntime(socket)
  // Those of an overloaded containerd that has forgotten them.
  for (const pid of processesNamed('containerd-shim-runc-v2')) process.kill(pid, 'SIGKILL')
  // A kubelet that ends with its last pod has not removed the cgroups of all yet; the next one would look at each.
  const cgroups = createCgroupTree(readCgroupLayout())
  await cgroups.remove('/kubepods', { timeoutMs: 10_000, killProcesses: true })
  cgroups.close()
}

const options = JSON.parse(process.argv[2] ?? '{}') as InsideOptions

/** Of Keelson: src/cli/process/compile-cache.ts. Private to the node environment, as everything below /var. */
const compiledCode = '/var/cache/keelson/compiled'

async function run(
  stack: StackName,
  { name, certificates, rows }: { name: string } & Pick<TurnOptions, 'certificates' | 'rows'>,
): Promise<Turn> {
  const directory = join(options.directory, `${name}-${stack}`.replaceAll(' ', '-'))
  const log = (line: string): void => console.log(`${name}, ${line}`)
  const turn = await runTurn(stack, { ...options, rows, directory, certificates, log })
  await clearRuntime(options.programs.runtime)
  await rm(join(directory, 'root'), { recursive: true, force: true, maxRetries: 5 })
  return turn
}

/** A start as after an installation, without certificate and compiled code; it leaves both for the turn. */
async function runFromNew(stack: StackName, turn: number): Promise<Turn> {
  const certificates = join(options.directory, `certificates-${turn}-${stack.replaceAll(' ', '-')}`)
  await rm(compiledCode, { recursive: true, force: true })
  const first = await run(stack, { name: `first start ${turn}`, certificates, rows: ['start'] })
  const name = `turn ${turn} of ${options.turns}`
  return { ...(await run(stack, { name, certificates, rows: options.rows })), firstCpuS: first.healthyCpuS }
}

const turns: Turn[] = []
for (let turn = 1; turn <= options.turns; turn++)
  for (const stack of options.stacks) {
    turns.push(await runFromNew(stack, turn))
    await writeFile(options.results, JSON.stringify(turns))
  }
