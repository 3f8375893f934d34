// node inside.mjs OPTIONS, in a node environment: the stacks in turns on one containerd; the results go to a file as JSON.
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
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
}

const options = JSON.parse(process.argv[2] ?? '{}') as InsideOptions

async function run(stack: StackName, name: string, rows: TurnOptions['rows']): Promise<Turn> {
  const own = stack.replaceAll(' ', '-')
  const directory = join(options.directory, `${name}-${own}`)
  const certificates = join(options.directory, `certificates-${own}`)
  const log = (line: string): void => console.log(`${name}, ${line}`)
  const turn = await runTurn(stack, { ...options, rows, directory, certificates, log })
  await clearRuntime(options.programs.runtime)
  await rm(join(directory, 'root'), { recursive: true, force: true, maxRetries: 5 })
  return turn
}

// What is done once after an installation: the certificate, compiled code, pages of programs in memory.
for (const stack of options.stacks) await run(stack, 'first start', ['start'])
const turns: Turn[] = []
for (let turn = 1; turn <= options.turns; turn++)
  for (const stack of options.stacks) {
    turns.push(await run(stack, `turn ${turn} of ${options.turns}`, options.rows))
    await writeFile(options.results, JSON.stringify(turns))
  }
