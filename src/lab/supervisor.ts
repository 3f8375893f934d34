// One run of a bed from the first temporary file to the last: the supervisor is a process of its own session, so that
// it outlives a killed `lab run` and cleans up for it.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { finished } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fail } from '../core/errors.js'
import { hasSystemd, type LabOutcome, type LabRequest } from './bed.js'
import { ensurePart } from './cache.js'
import { writeGuest } from './guest.js'
import { ensureImages } from './images/images.js'
import { cloudKernel, kernelIn } from './kernel.js'
import { diskDevices, type MachinePlan, planQemu, planUml, umlModulesDirectory } from './machine.js'
import { ensurePackages, findCommand, needsOf } from './packages.js'
import { endGroup, lastLines, startProgram } from './process.js'
import { sysroot } from './sysroot.js'

export interface SupervisorIo {
  readonly stdout: NodeJS.WritableStream
  readonly stderr: NodeJS.WritableStream
  /** This file, as the guest can run it with node. */
  readonly agentFile: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Runs the request; the signal stops it at any point. Nothing of the run is left when this returns or throws. */
export async function supervise(
  request: LabRequest,
  io: SupervisorIo,
  signal: AbortSignal,
): Promise<LabOutcome> {
  const progress = (line: string): void => void io.stderr.write(`keelson lab: ${line}\n`)
  let runDir: string | undefined
  try {
    await ensurePackages(needsOf(request.bed, request.containerd !== undefined), signal, progress)
    const parts = await prepare(request, signal, progress)
    runDir = await mkdtemp(join(tmpdir(), 'keelson-lab-'))
    const plan = await planRun(request, io, runDir, parts)
    return await boot(request, io, runDir, plan, signal)
  } catch (e) {
    if (signal.aborted) return { kind: 'stopped' }
    throw e
  } finally {
    if (runDir !== undefined) await rm(runDir, { recursive: true, force: true, maxRetries: 10 })
  }
}

interface Parts {
  readonly sysroot: string | undefined
  readonly kernel: string | undefined
  readonly images: readonly string[]
}

async function prepare(
  request: LabRequest,
  signal: AbortSignal,
  progress: (line: string) => void,
): Promise<Parts> {
  const root = process.getuid?.() === 0
  if (request.bed !== 'uml' && !root)
    throw fail('lab.unsupported', `the ${request.bed} bed needs root; --bed uml works without`)
  const part = (p: typeof sysroot): Promise<string> => ensurePart(request.cacheDir, p, signal, progress)
  return {
    sysroot: hasSystemd(request.bed) ? await part(sysroot) : undefined,
    kernel: request.bed === 'qemu' ? await part(cloudKernel) : undefined,
    images:
      request.containerd === undefined
        ? []
        : [await ensureImages(request.cacheDir, signal, progress), ...(request.containerd.archives ?? [])],
  }
}

async function planRun(
  request: LabRequest,
  io: SupervisorIo,
  runDir: string,
  parts: Parts,
): Promise<MachinePlan> {
  const out = request.out ?? join(runDir, 'out')
  const kernel = parts.kernel === undefined ? undefined : await kernelIn(parts.kernel)
  const agentDir = dirname(io.agentFile)
  const argv =
    request.containerd === undefined
      ? request.argv
      : [
          process.execPath,
          io.agentFile,
          'inside',
          JSON.stringify(insideOptions(request, parts)),
          ...request.argv,
        ]
  for (const dir of ['memory', 'uml']) await mkdir(join(runDir, dir))
  const init = await writeGuest({
    bed: request.bed,
    runDir,
    out,
    lower: parts.sysroot ?? '/',
    visible:
      parts.sysroot === undefined
        ? []
        : topmost([
            await repositoryOf(request.cwd),
            process.execPath,
            agentDir,
            request.cacheDir,
            ...parts.images.map((i) => dirname(i)),
          ]),
    modules: kernel?.modules ?? umlModulesDirectory(),
    argv,
    env: guestEnv(request, out, io.env),
    cwd: request.cwd,
    interactive: request.interactive,
  })
  if (kernel !== undefined) return planQemu(request, runDir, init, kernel)
  return planUml(request, runDir, init, {
    root: process.getuid?.() === 0,
    cpu: findCommand('taskset') === undefined ? undefined : pinnedCpu(io.env),
  })
}

const insideOptions = (request: LabRequest, parts: Parts): object => ({
  ...request.containerd,
  systemdCgroup: request.containerd?.systemdCgroup ?? hasSystemd(request.bed),
  archives: parts.images,
})

function guestEnv(request: LabRequest, out: string, env: SupervisorIo['env']): Record<string, string> {
  const nodeDir = dirname(process.execPath)
  const path = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']
  return {
    PATH: [...(path.includes(nodeDir) ? [] : [nodeDir]), ...path].join(':'),
    HOME: '/root',
    TMPDIR: '/run/tmp',
    TERM: request.interactive ? (env.TERM ?? 'vt100') : 'dumb',
    NO_COLOR: '1',
    LANG: 'C.UTF-8',
    LAB_BED: request.bed,
    LAB_OUT: out,
    LAB_DISKS: diskDevices(request).join(' '),
    ...(env.CI === undefined ? {} : { CI: env.CI }),
    ...request.env,
  }
}

/** The directory with the nearest package.json or .git above; the directory itself when there is none. */
async function repositoryOf(cwd: string): Promise<string> {
  for (let dir = cwd; dir !== '/'; dir = dirname(dir))
    for (const mark of ['package.json', '.git'])
      if (
        await stat(join(dir, mark)).then(
          () => true,
          () => false,
        )
      )
        return dir
  return cwd
}

/** Leaves out paths that another one contains: mounting both would hide one under the other. */
const topmost = (paths: readonly string[]): string[] =>
  [...new Set(paths)].filter((p) => !paths.some((other) => other !== p && p.startsWith(`${other}/`)))

/** Machines side by side want different CPUs; process ids spread them well enough. */
function pinnedCpu(env: SupervisorIo['env']): number {
  const chosen = Number.parseInt(env.KEELSON_LAB_CPU ?? '', 10)
  return Number.isInteger(chosen) ? chosen : process.pid % availableParallelism()
}

/** Should somebody kill even the supervisor, the kernel ends what it started; then only files are left. */
const dyingWithUs = (argv: readonly string[]): string[] => ['setpriv', '--pdeathsig', 'KILL', ...argv]

async function boot(
  request: LabRequest,
  io: SupervisorIo,
  runDir: string,
  plan: MachinePlan,
  signal: AbortSignal,
): Promise<LabOutcome> {
  const log = join(runDir, 'console.log')
  const started: ChildProcess[] = []
  const servers: Server[] = []
  const flows: Promise<unknown>[] = []
  const timeout = AbortSignal.timeout(request.timeoutS * 1000)
  const stop = AbortSignal.any([signal, timeout])
  try {
    stop.throwIfAborted()
    const logFd = openSync(log, 'a')
    for (const { argv, socket } of plan.before) {
      started.push(startProgram(dyingWithUs(argv), { stdio: ['ignore', logFd, logFd] }))
      await appears(socket, stop)
    }
    if (plan.output === 'sockets' && !request.interactive)
      for (const [name, target] of [
        ['out', io.stdout],
        ['err', io.stderr],
      ] as const)
        servers.push(await listen(join(runDir, `${name}.sock`), (s) => flows.push(flow(s, target))))
    const machine = startProgram(dyingWithUs(plan.argv), {
      stdio: request.interactive
        ? ['inherit', 'inherit', logFd, logFd]
        : ['ignore', logFd, logFd, ...(plan.output === 'descriptors' ? (['pipe', 'pipe'] as const) : [])],
      env: { ...io.env },
    })
    started.push(machine)
    if (plan.output === 'descriptors' && !request.interactive)
      for (const [fd, target] of [
        [3, io.stdout],
        [4, io.stderr],
      ] as const)
        flows.push(flow(machine.stdio[fd] as unknown as Socket, target))
    await ended(machine, stop)
    await endGroup(machine)
    await Promise.race([Promise.all(flows), sleep(2000)])
    const status = await readFile(join(runDir, 'status'), 'utf8').catch(() => undefined)
    if (status !== undefined) return { kind: 'exit', code: Number.parseInt(status, 10) }
    throw fail(
      'lab.boot',
      `the ${request.bed} machine ended without running the command to its end:\n${lastLines(await readFile(log, 'utf8'), 20)}`,
    )
  } catch (e) {
    if (signal.aborted) return { kind: 'stopped' }
    if (timeout.aborted) return { kind: 'timeout', seconds: request.timeoutS }
    throw e
  } finally {
    await Promise.all(started.map((child) => endGroup(child)))
    for (const server of servers) server.close()
  }
}

async function flow(source: Socket, target: NodeJS.WritableStream): Promise<void> {
  source.on('error', () => {})
  source.pipe(target, { end: false })
  await finished(source, { writable: false }).catch(() => {})
}

async function listen(path: string, onConnection: (socket: Socket) => void): Promise<Server> {
  const server = createServer(onConnection)
  server.listen(path)
  await once(server, 'listening')
  return server
}

async function appears(path: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    if (
      await stat(path).then(
        () => true,
        () => false,
      )
    )
      return
    await sleep(20, undefined, { signal })
  }
}

async function ended(child: ChildProcess, signal: AbortSignal): Promise<void> {
  try {
    await once(child, 'exit', { signal })
  } catch (e) {
    signal.throwIfAborted()
    throw fail('lab.boot', `start ${child.spawnfile}: ${e instanceof Error ? e.message : String(e)}`, {}, e)
  }
}
