// A program in an environment as checks of a unit.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { UnitContext } from '../unit.js'
import { type ProgramRun, runProgram } from './environment.js'

export async function runAsChecks(
  context: UnitContext,
  name: string,
  run: Omit<ProgramRun, 'directory' | 'peer' | 'keep'>,
): Promise<void> {
  const { keep } = context.options
  const { checks, status, output } = await runProgram({
    ...run,
    directory: await mkdtemp(join(tmpdir(), 'keelson-node-')),
    keep: keep === undefined ? undefined : join(String(keep), name.replaceAll(/\W+/g, '-')),
    peer: context.peer,
  })
  for (const { name: check, outcome, reason = '', values } of checks)
    if (outcome === 'not here') context.note(`     ${name}: ${check}: ${reason}`)
    else
      await context.check(`${name}: ${check}`, async () => {
        if (values !== undefined) context.note(JSON.stringify(values))
        if (outcome === 'failed') throw new Error(reason)
      })
  await context.check(`${name}: the run came to its end`, async () => {
    if (status !== 0 || checks.length === 0) throw new Error(`status ${status}\n${output}`)
  })
}
