// From the outside: starts a node environment and sees to it that nothing of it stays, however the run ends.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { forNode } from '../../scripts/bundling.mjs'
import { createCgroups, removeCgroups } from './cgroups.js'
import type { GuardianPlan } from './guardian.js'
import { type EnvironmentPlan, type Hierarchy, parseHierarchies } from './plan.js'
import { spawnInCgroups } from './spawn-in-cgroups.js'

const namePrefix = 'keelson-node-'

/** The namespaces end with their first process; that one is a shell, because node does not collect orphans. */
const firstProcess = ['sh', '-c', '"$@" & wait "$!"', 'sh'] as const

const namespaces = [
  'unshare',
  '--mount',
  '--pid',
  '--net',
  '--uts',
  '--ipc',
  '--cgroup',
  '--fork',
  '--kill-child=KILL',
  '--propagation',
  'private',
] as const

export interface NodeEnvironment {
  /** Of its cgroup in every hierarchy. */
  readonly name: string
  /** Host path of `insideDirectory`; gone after close(). */
  readonly directory: string
  /** Status of the command; rejects when the environment could not be built. */
  readonly ended: Promise<number>
  /** Ends everything inside and removes every trace. */
  close(): Promise<void>
}

export type EnvironmentRequest = Omit<EnvironmentPlan, 'name' | 'hierarchies' | 'place'> & {
  readonly onOutput: (text: string) => void
  /** Removed by the guardian when this process is killed. */
  readonly leftovers?: readonly string[]
}

export const readHierarchies = async (): Promise<Hierarchy[]> =>
  parseHierarchies(await readFile('/proc/self/mountinfo', 'utf8'))

export async function bundleInside(target: string): Promise<void> {
  const entry = join(import.meta.dirname, 'inside.ts')
  await build({ ...forNode, entryPoints: [entry], outfile: target })
}

/** Cgroups whose guardian was killed too: their names carry its process id. */
export async function sweepStale(hierarchies: readonly Hierarchy[]): Promise<string[]> {
  const names = new Set<string>()
  for (const { name } of hierarchies)
    for (const entry of await readdir(join('/sys/fs/cgroup', name)).catch(() => []))
      if (entry.startsWith(namePrefix)) names.add(entry)
  const stale: string[] = []
  for (const name of names) {
    const pid = name.slice(namePrefix.length).split('-')[0] ?? ''
    const alive = await stat(`/proc/${pid}`).then(
      () => true,
      () => false,
    )
    if (!alive && (await removeCgroups(hierarchies, name))) stale.push(name)
  }
  return stale
}

/** Starts only when its name is known, which carries its process id: it is told the plan afterwards. */
export function startGuardian(
  bundle: string,
  plan: Omit<GuardianPlan, 'name'>,
  suffix: string,
): [ChildProcess, string] {
  const waitForName = ['sh', '-c', 'read -r plan && exec "$@" "$plan"', 'sh'] as const
  const argv = [...waitForName, process.execPath, bundle, 'guardian']
  const guardian = spawn(argv[0] ?? '', argv.slice(1), {
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  guardian.stdin?.on('error', () => {})
  const name = `${namePrefix}${guardian.pid}-${suffix}`
  const told: GuardianPlan = { ...plan, name }
  guardian.stdin?.write(`${JSON.stringify(told)}\n`)
  return [guardian, name]
}

export async function startEnvironment(request: EnvironmentRequest): Promise<NodeEnvironment> {
  const { onOutput, leftovers = [], ...rest } = request
  const { directory } = request
  const hierarchies = await readHierarchies()
  await sweepStale(hierarchies)
  await mkdir(join(directory, 'out'), { recursive: true })
  const bundle = join(directory, 'inside.mjs')
  await bundleInside(bundle)
  const suffix = String(Date.now() % 100_000)
  const [guardian, name] = startGuardian(bundle, { directory, hierarchies, leftovers }, suffix)
  const guardianEnded = once(guardian, 'exit')
  const plan: EnvironmentPlan = { ...rest, place: 'host', name, hierarchies }
  await writeFile(join(directory, 'plan.json'), JSON.stringify(plan))
  const procs = await createCgroups(hierarchies, name)
  const inside = [process.execPath, bundle, 'node', join(directory, 'plan.json')]
  const child = spawnInCgroups([...namespaces, ...firstProcess, ...inside], procs, { output: 'pipe' })
  child.stdout?.on('data', (d: Buffer) => onOutput(d.toString()))
  child.stderr?.on('data', (d: Buffer) => onOutput(d.toString()))
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject).once('close', (code) => resolve(code ?? 137))
  })
  return {
    name,
    directory,
    ended,
    async close() {
      child.kill('SIGKILL')
      await ended.catch(() => {})
      guardian.stdin?.end('done\n')
      const [code] = (await guardianEnded) as [number | null]
      if (code !== 0) throw new Error(`the environment ${name} left cgroups behind`)
    },
  }
}
