// From the outside: a cluster with Keelson's kubelet, in which a program makes checks and prints them; each becomes one of the unit.
import { cp, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { insideDirectory } from '../node-environment/plan.js'
import type { UnitContext } from '../unit.js'
import { type InsideCheck, linePrefix } from './inside-check.js'
import { prepareCluster } from './prepare.js'
import { startCluster } from './start-cluster.js'

interface InsideProgram {
  /** A file of TypeScript. */
  readonly program: string
  /** The program's own arguments. Paths of the environment. */
  readonly args: readonly string[]
  /** Directory of this host that gets the logs. */
  readonly keep: string | undefined
  /** Fewer: the program did not come to its end. */
  readonly checks: number
}

/** Of each log; the last are nearest to what went wrong. */
const KEEP_LINES = 30

async function noteWarnings(out: string, note: UnitContext['note']): Promise<void> {
  for (const file of await readdir(out)) {
    if (!file.startsWith('kubelet-')) continue
    const lines = (await readFile(join(out, file), 'utf8')).split('\n')
    for (const line of lines.filter((l) => /^[WE]\d/.test(l)).slice(-KEEP_LINES)) note(`${file}: ${line}`)
  }
}

async function keepLogs(out: string, directory: string): Promise<void> {
  const filter = (path: string): boolean =>
    path === out || path === join(out, 'cluster') || path.endsWith('.log')
  await cp(out, directory, { recursive: true, filter })
}

export const keepFlag = { type: 'string', summary: 'directory that gets the logs of the run' } as const

export async function runChecks(context: UnitContext, o: InsideProgram): Promise<void> {
  const settings = { kubelet: 'keelson', runtime: 'containerd-2', auditLog: false, port: 0 } as const
  const request = await prepareCluster(context, { ...settings, proxy: false, dns: false })
  const told: InsideCheck[] = []
  let rest = ''
  const cluster = await startCluster({
    ...request,
    program: o.program,
    argv: [process.execPath, join(insideDirectory, 'program.mjs'), ...o.args],
    onOutput(text) {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines)
        if (line.startsWith(linePrefix)) told.push(JSON.parse(line.slice(linePrefix.length)) as InsideCheck)
        else context.note(line)
    },
  })
  context.defer(() => cluster.close())
  const status = await cluster.ended
  if (o.keep !== undefined) await keepLogs(cluster.out, o.keep)
  for (const { name, problem } of told)
    await context.check(name, async () => {
      if (problem !== undefined) throw new Error(problem)
    })
  if (status !== 0 || told.some(({ problem }) => problem !== undefined))
    await noteWarnings(cluster.out, context.note)
  await context.check('the run came to its end', async () => {
    if (status !== 0 || told.length < o.checks)
      throw new Error(`status ${status} after ${told.length} checks`)
  })
}
