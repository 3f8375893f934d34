// Stand-ins for systemd-run, systemctl and sudo in an environment without systemd: the suite starts, stops and restarts
// the kubelet through them. A unit is a directory with its arguments, its log and the id of its process.
import { spawn } from 'node:child_process'
import { existsSync, openSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { insideBundle } from './plan.js'

const unitsDirectory = '/run/units'
const STOP_MS = 20_000

interface StandInUnit {
  readonly unit: string
  readonly log: string
  readonly argv: readonly string[]
  /** As from a unit file: it can be started again after a stop. A unit of systemd-run is gone then. */
  readonly installed?: boolean
}

/** systemd-run's command line: `-p KEY=VALUE`, `--flag[=value]`, then the program. */
export function parseSystemdRun(args: readonly string[]): StandInUnit {
  let unit = 'run'
  let log = '/dev/null'
  let i = 0
  for (; i < args.length; i++) {
    const arg = args[i] ?? ''
    if (arg === '-p') log = /^StandardError=\w+:(.*)$/.exec(args[++i] ?? '')?.[1] ?? log
    else if (arg.startsWith('--unit=')) unit = arg.slice('--unit='.length)
    else if (!arg.startsWith('-')) break
  }
  return { unit: unit.replace(/\.service$/, ''), log, argv: args.slice(i) }
}

export async function writeStandIns(directory: string): Promise<string> {
  const dir = join(directory, 'stand-ins')
  await mkdir(dir, { recursive: true })
  for (const name of ['systemd-run', 'systemctl', 'sudo']) {
    await writeFile(join(dir, name), `#!/bin/sh\nexec ${process.execPath} ${insideBundle} ${name} "$@"\n`)
    await chmod(join(dir, name), 0o755)
  }
  return dir
}

/** Called inside the environment: what a package does with its unit file. It is not started. */
export async function installUnit(unit: Omit<StandInUnit, 'installed'>): Promise<void> {
  const dir = join(unitsDirectory, unit.unit)
  await mkdir(dir, { recursive: true })
  await writeFile(join(dir, 'unit.json'), JSON.stringify({ ...unit, installed: true }))
}

const readUnit = async (unit: string): Promise<StandInUnit> =>
  JSON.parse(await readFile(join(unitsDirectory, unit, 'unit.json'), 'utf8')) as StandInUnit

async function pidOf(unit: string): Promise<number | undefined> {
  const pid = Number(await readFile(join(unitsDirectory, unit, 'pid'), 'utf8').catch(() => ''))
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // A dead process that init has not collected yet still has a directory.
  const state = stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3)
  return stat === '' || state === 'Z' ? undefined : pid
}

async function start(unit: string): Promise<void> {
  const dir = join(unitsDirectory, unit)
  const { argv, log } = await readUnit(unit)
  const output = openSync(log, 'a')
  const [command = '', ...args] = argv
  const child = spawn(command, args, { cwd: '/', detached: true, stdio: ['ignore', output, output] })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve).once('error', reject)
  })
  await writeFile(join(dir, 'pid'), String(child.pid))
  child.unref()
}

async function stop(unit: string): Promise<void> {
  const pid = await pidOf(unit)
  if (pid === undefined) return
  process.kill(pid, 'SIGTERM')
  for (const until = Date.now() + STOP_MS; Date.now() < until; await sleep(100))
    if ((await pidOf(unit)) === undefined) return
  process.kill(pid, 'SIGKILL')
}

async function list(args: readonly string[]): Promise<number> {
  for (const unit of await readdir(unitsDirectory).catch(() => [])) {
    const running = (await pidOf(unit)) !== undefined
    if (!running && args.includes('--state=running')) continue
    process.stdout.write(`  ${unit}.service loaded active ${running ? 'running' : 'exited'} ${unit}\n`)
  }
  return 0
}

async function systemctl([verb, ...args]: readonly string[]): Promise<number> {
  if (verb === 'list-units') return await list(args)
  const unit = (args.find((a) => !a.startsWith('-')) ?? '').replace(/\.service$/, '')
  if (!existsSync(join(unitsDirectory, unit, 'unit.json'))) return verb === 'restart' ? 5 : 0
  if (verb === 'start') await start(unit)
  else if (verb === 'stop') {
    await stop(unit)
    if ((await readUnit(unit)).installed !== true) await rm(join(unitsDirectory, unit), { recursive: true })
  } else if (verb === 'restart') {
    await stop(unit)
    await start(unit)
  } else if (verb === 'kill') {
    const pid = await pidOf(unit)
    if (pid !== undefined) process.kill(pid, 'SIGTERM')
  }
  return 0
}

async function systemdRun(args: readonly string[]): Promise<number> {
  if (args[0] === '--version') {
    process.stdout.write('systemd 252 (stand-in)\n')
    return 0
  }
  const unit = parseSystemdRun(args)
  await mkdir(join(unitsDirectory, unit.unit), { recursive: true })
  await writeFile(join(unitsDirectory, unit.unit, 'unit.json'), JSON.stringify(unit))
  await start(unit.unit)
  return 0
}

async function sudo([command = '', ...args]: readonly string[]): Promise<number> {
  const child = spawn(command, args, { stdio: 'inherit' })
  return await new Promise((resolve, reject) => {
    child.once('error', reject).once('exit', (code) => resolve(code ?? 1))
  })
}

export async function runStandIn(name: string, args: readonly string[]): Promise<number> {
  if (name === 'systemd-run') return await systemdRun(args)
  if (name === 'systemctl') return await systemctl(args)
  if (name === 'sudo') return await sudo(args)
  throw new Error(`unknown role ${name}`)
}
