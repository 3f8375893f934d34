// The first program inside the environment's namespaces: builds the node around itself, runs the plan's command and ends
// with its status. Also the registry, as a process of its own. Bundled to one file.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { constants } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { mustRun } from '../../src/lab/process.js'
import { readLayout } from '../images/layout.js'
import { protectedRepository } from '../images/protected-repository.js'
import { startRegistry } from '../images/registry.js'
import { createCgroups } from './cgroups.js'
import { type GuardianPlan, guard } from './guardian.js'
import { busArguments, busProgram, busSocket, configureLogind, logindProgram } from './logind.js'
import { mountEverything } from './mounts.js'
import { createNetwork } from './network.js'
import { type EnvironmentPlan, insideBundle, insideDirectory, registryPort } from './plan.js'
import { importImages, prepareRuntime, registryUrl } from './runtime.js'
import { spawnInCgroups } from './spawn-in-cgroups.js'
import { runStandIn, writeStandIns } from './systemd-stand-ins.js'

const START_MS = 60_000

async function waitFor(what: string, child: ChildProcess, ask: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + START_MS
  while (!(await ask().catch(() => false))) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${what} ended at its start`)
    if (Date.now() > deadline) throw new Error(`${what} is not ready after ${START_MS / 1000} s`)
    await sleep(100)
  }
}

/** Services of the node stand in cgroups of the names that the suite tells the kubelet. */
async function startService(
  plan: EnvironmentPlan,
  cgroup: string,
  argv: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<ChildProcess> {
  const procs = await createCgroups(plan.hierarchies, cgroup)
  const log = openSync(join(insideDirectory, 'out', `${cgroup}.log`), 'a')
  return spawnInCgroups(argv, procs, { env, output: log })
}

async function startImages(plan: EnvironmentPlan): Promise<void> {
  const registry = await startService(plan, 'system', [
    process.execPath,
    insideBundle,
    'registry',
    plan.imageLayout,
  ])
  await waitFor('the registry', registry, async () => {
    const response = await fetch(`${registryUrl}/v2/`, { signal: AbortSignal.timeout(1_000) })
    return response.ok
  })
}

async function startRuntime(plan: EnvironmentPlan): Promise<void> {
  const { name, argv, env, ready } = await prepareRuntime(plan)
  const daemon = await startService(plan, 'docker-daemon', argv, env)
  await waitFor(name, daemon, ready)
  await importImages(plan)
}

const shimsOf = ({ programs }: EnvironmentPlan): string[] =>
  programs.kind === 'containerd' ? [programs.shims] : []

async function startLogind(plan: EnvironmentPlan): Promise<void> {
  await configureLogind()
  const bus = await startService(plan, 'system', [busProgram, ...busArguments])
  await waitFor('the system bus', bus, async () => existsSync(busSocket))
  const logind = await startService(plan, 'system', [logindProgram])
  await waitFor('systemd-logind', logind, async () => {
    const args = ['org.freedesktop.login1', '/org/freedesktop/login1', 'org.freedesktop.login1.Manager']
    await mustRun(['busctl', 'get-property', ...args, 'InhibitDelayMaxUSec'])
    return true
  })
}

async function runCommand(plan: EnvironmentPlan): Promise<number> {
  const [command, ...args] = plan.argv
  if (command === undefined) throw new Error('no command to run inside')
  const standIns = plan.systemdStandIns ? [await writeStandIns(insideDirectory)] : []
  const PATH = [...standIns, ...shimsOf(plan), process.env.PATH].join(':')
  const env = { ...process.env, ...plan.env, PATH }
  const child = spawn(command, args, { cwd: plan.cwd, env, stdio: ['ignore', 'inherit', 'inherit'] })
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal])
}

async function runNode(planFile: string): Promise<number> {
  const plan = JSON.parse(await readFile(planFile, 'utf8')) as EnvironmentPlan
  const started = Date.now()
  await mountEverything(plan)
  await createNetwork(insideDirectory)
  await startImages(plan)
  await startRuntime(plan)
  if (plan.logind) await startLogind(plan)
  process.stdout.write(`node ready after ${((Date.now() - started) / 1000).toFixed(1)} s\n`)
  return await runCommand(plan)
}

async function serveImages(layout: string): Promise<never> {
  const protectedRepositories = [protectedRepository]
  await startRegistry(await readLayout(layout), { port: registryPort, protectedRepositories })
  return await new Promise<never>(() => {})
}

async function main([what = '', ...args]: readonly string[]): Promise<number> {
  if (what === 'node') return await runNode(args[0] ?? '')
  if (what === 'registry') return await serveImages(args[0] ?? '')
  if (what === 'guardian') return await guard(JSON.parse(args[0] ?? '') as GuardianPlan)
  return await runStandIn(what, args)
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (e) {
  process.stderr.write(`node environment: ${e instanceof Error ? e.message : String(e)}\n`)
  process.exitCode = 70
}
// Sockets and timers of services that still run must not hold the end back: the namespaces end everything.
process.exit()
