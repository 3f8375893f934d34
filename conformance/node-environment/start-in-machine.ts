// The same node in a UML machine of the lab: for specs that need cgroup v2. The lab ends the machine of a killed run, the
// guardian removes its files.
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { exitCodeOf, labRequest, runLab } from '../../src/lab/run-machine.js'
import type { EnvironmentPlan } from './plan.js'
import { bundleInside, type EnvironmentRequest, type NodeEnvironment, startGuardian } from './start.js'

const MEMORY_MIB = 6144 // images, volumes and containers are in memory there

export async function startMachine(
  request: EnvironmentRequest & { readonly timeoutMs: number; readonly machine?: 'uml' | 'uml-systemd' },
): Promise<NodeEnvironment> {
  const { onOutput, leftovers = [], timeoutMs, machine = 'uml', ...rest } = request
  const { directory } = request
  const name = 'node'
  await mkdir(join(directory, 'out'), { recursive: true })
  const bundle = join(directory, 'inside.mjs')
  await bundleInside(bundle)
  const [guardian] = startGuardian(bundle, { directory, hierarchies: [], leftovers }, name)
  const guardianEnded = once(guardian, 'exit')
  const hierarchies = [{ name: '', type: 'cgroup2', options: [] }] as const
  const plan: EnvironmentPlan = { ...rest, place: machine, name, hierarchies }
  await writeFile(join(directory, 'plan.json'), JSON.stringify(plan))
  const stop = new AbortController()
  const sink = new PassThrough().on('data', (data: Buffer) => onOutput(data.toString()))
  const ended = runLab(
    labRequest({
      machine,
      argv: [process.execPath, bundle, 'node', join(directory, 'plan.json')],
      // With systemd the root is another one, in which what belongs to this directory can be seen.
      cwd: directory,
      out: directory,
      memoryMiB: MEMORY_MIB,
      timeoutS: Math.ceil(timeoutMs / 1000),
    }),
    { stdout: sink, stderr: sink },
    stop.signal,
  ).then(exitCodeOf)
  return {
    name,
    directory,
    ended,
    async close() {
      stop.abort()
      await ended.catch(() => {})
      guardian.stdin?.end('done\n')
      await guardianEnded
    },
  }
}
