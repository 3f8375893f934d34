// node inside.mjs OPTIONS, in a node environment: the stacks in turns on one containerd; the results go to a file as JSON.
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { emptyRuntime } from '../empty-runtime.js'
import type { StackName } from './stack.js'
import { runTurn, type Turn, type TurnOptions } from './turn.js'
import { processesNamed } from './usage.js'

export type InsideOptions = Omit<TurnOptions, 'log'> & {
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
const turns: Turn[] = []
for (let turn = 0; turn < options.turns; turn++)
  for (const stack of options.stacks) {
    const directory = join(options.directory, `turn-${turn}-${stack.replaceAll(' ', '-')}`)
    const log = (line: string): void => console.log(`turn ${turn + 1} of ${options.turns}, ${line}`)
    turns.push(await runTurn(stack, { ...options, directory, log }))
    await clearRuntime(options.programs.runtime)
    await rm(join(directory, 'root'), { recursive: true, force: true, maxRetries: 5 })
    await writeFile(options.results, JSON.stringify(turns))
  }
