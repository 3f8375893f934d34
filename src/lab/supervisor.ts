// One run of a machine from the first temporary file to the last: the supervisor runs in a separate session, so that
// it outlives a killed `lab run` and cleans up for it.
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { keelsonError } from '../core/errors.js'
import { type BootIo, boot } from './boot.js'
import { ensurePart } from './cache.js'
import { writeGuest } from './guest.js'
import { ensureImages } from './images/images.js'
import { cloudKernel, kernelIn } from './kernel.js'
import { hasSystemd, type LabOutcome, type LabRequest } from './machine.js'
import { diskDevices, type MachinePlan, planQemu, planUml, umlModulesDirectory } from './machine-plan.js'
import { ensurePackages, findCommand, needsOf } from './packages.js'
import { sysroot } from './sysroot.js'
import { umlPreload } from './uml-registers.js'
import { type WindowSizes, writeWindowSizes } from './window.js'

interface SupervisorIo extends BootIo {
  /** This file, as the guest can run it with node. */
  readonly agentFile: string
  /** Of the terminal, while a person is at the console. */
  readonly windowSizes?: WindowSizes
}

/** Runs the request; the signal stops it at any point. Nothing of the run is left when this returns or throws. */
export async function supervise(
  request: LabRequest,
  io: SupervisorIo,
  signal: AbortSignal,
): Promise<LabOutcome> {
  const progress = (line: string): void => void io.stderr.write(`keelson lab: ${line}\n`)
  let runDir: string | undefined
  let stopWindow: (() => Promise<void>) | undefined
  try {
    await ensurePackages(needsOf(request.machine, request.containerd !== undefined), signal, progress)
    const parts = await prepare(request, signal, progress)
    runDir = await mkdtemp(join(tmpdir(), 'keelson-lab-'))
    if (io.windowSizes !== undefined) stopWindow = writeWindowSizes(io.windowSizes, runDir)
    const plan = await planRun(request, io, runDir, parts)
    return await boot(request, io, runDir, plan, signal)
  } catch (e) {
    if (signal.aborted) return { kind: 'stopped' }
    throw e
  } finally {
    await stopWindow?.()
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
  if (request.machine !== 'uml' && !root)
    throw keelsonError('lab.unsupported', `the ${request.machine} machine needs root; --machine uml does not`)
  if (request.forward !== undefined && (request.machine === 'qemu' || request.containerd === undefined))
    throw keelsonError('lab.unsupported', 'port forwarding needs a UML machine with containerd')
  const part = (p: typeof sysroot): Promise<string> => ensurePart(request.cacheDir, p, signal, progress)
  return {
    sysroot: hasSystemd(request.machine) ? await part(sysroot) : undefined,
    kernel: request.machine === 'qemu' ? await part(cloudKernel) : undefined,
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
    machine: request.machine,
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
    preload: umlPreload(runDir),
    root: process.getuid?.() === 0,
    cpu: findCommand('taskset') === undefined ? undefined : pinnedCpu(io.env),
  })
}

const insideOptions = (request: LabRequest, parts: Parts): object => ({
  ...request.containerd,
  systemdCgroup: request.containerd?.systemdCgroup ?? hasSystemd(request.machine),
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
    LAB_BED: request.machine,
    LAB_OUT: out,
    LAB_DISKS: diskDevices(request).join(' '),
    ...(request.forward === undefined ? {} : { LAB_FORWARD: String(request.forward.guestPort) }),
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
