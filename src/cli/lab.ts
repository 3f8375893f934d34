// `keelson lab run|shell`: a throw-away kernel with cgroup v2 as an ordinary process.
import { spawnSync } from 'node:child_process'
import { constants } from 'node:os'
import { resolve } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import { keelsonError } from '../core/errors.js'
import { cacheDirectory } from '../lab/cache.js'
import {
  bootSeconds,
  type GuestContainerd,
  type LabRequest,
  type MachineName,
  machineNames,
} from '../lab/machine.js'
import { exitCodeOf, labDefaults, labRequest, runLab } from '../lab/run-machine.js'
import type { WindowSize } from '../lab/window.js'
import type { Io } from './io.js'
import { addAlias } from './option-alias.js'
import { untilSignal } from './process/signals.js'

interface Flags {
  readonly machine: MachineName
  readonly memory: number
  readonly cpus: number
  readonly disk: readonly string[]
  readonly containerd?: boolean
  readonly cgroupDriver?: 'systemd' | 'cgroupfs'
  readonly runtime?: 'runc' | 'crun'
  readonly timeout: number
  readonly out?: string
  readonly cache?: string
  readonly env: readonly string[]
}

const machines = `
Machines:
  uml          user-mode Linux 6.1, a shell script as first process; ${bootSeconds.uml} s to boot; cpu, io, memory, pids
  uml-systemd  the same kernel with systemd and D-Bus; ${bootSeconds['uml-systemd']} s
  qemu         Debian's cloud kernel, emulated: several CPUs, cpuset, hugetlb, pressure files; ${bootSeconds.qemu} s

Inside, the command runs as root in the same directory. Its writes are lost with the machine, except below $LAB_OUT
(--out). $LAB_DISKS lists the devices of --disk. With --containerd, $CONTAINER_RUNTIME_ENDPOINT is set.`

const examples = `
Examples:
  keelson lab run -- cat /sys/fs/cgroup/cgroup.controllers
  keelson lab run --machine uml-systemd -- systemctl status
  keelson lab run --machine qemu --timeout 120 -- sh -c 'cat /proc/pressure/memory'
  keelson lab run --containerd --out results -- sh -c 'ctr -n k8s.io image ls -q > $LAB_OUT/images'
  keelson lab shell --machine uml-systemd --containerd

Exit status: that of the command; 124 after the timeout, 130 after an interrupt.`

const positive = (text: string): number => {
  const n = Number(text)
  if (!Number.isInteger(n) || n < 1) throw new InvalidArgumentError('use a whole number above 0.')
  return n
}
const collect = (value: string, list: readonly string[]): string[] => [...list, value]

const withOptions = (command: Command, timeoutS: number): Command => {
  command
    .addOption(
      new Option('-b, --machine <machine>', 'lab machine to boot').choices(machineNames).default('uml'),
    )
    .option('-m, --memory <MiB>', 'memory of the machine', positive, labDefaults.memoryMiB)
    .option('--cpus <n>', 'processors (qemu machine only)', positive, labDefaults.cpus)
    .option('-d, --disk <file>', 'attach this file as a block device; may be repeated', collect, [])
    .option('-c, --containerd', 'start a private containerd with CNI and the lab images first')
    .addOption(
      new Option('--cgroup-driver <driver>', "containerd's cgroup driver").choices(['systemd', 'cgroupfs']),
    )
    .addOption(new Option('--runtime <name>', 'OCI runtime of that containerd').choices(['runc', 'crun']))
    .option('-t, --timeout <s>', 'stop the machine after this many seconds', positive, timeoutS)
    .option('--out <dir>', 'host directory, writable inside as $LAB_OUT')
    .option(
      '-e, --env <NAME=value>',
      'set an environment variable of the command; may be repeated',
      collect,
      [],
    )
    .option('--cache <dir>', 'cache for kernels and images ($KEELSON_LAB_CACHE, $XDG_CACHE_HOME/keelson)')
  addAlias(command, '--bed', '--machine')
  return addAlias(command, '-o', '--out')
}

function parseEnv(list: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    list.map((item) => {
      const at = item.indexOf('=')
      if (at < 1 || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(item.slice(0, at)))
        throw keelsonError('usage.invalid', `--env ${item}: use NAME=value`)
      return [item.slice(0, at), item.slice(at + 1)]
    }),
  )
}

function toRequest(flags: Flags, argv: readonly string[], io: Io, interactive: boolean): LabRequest {
  const containerd: GuestContainerd | undefined = flags.containerd
    ? {
        ...(flags.cgroupDriver === undefined ? {} : { systemdCgroup: flags.cgroupDriver === 'systemd' }),
        ...(flags.runtime === undefined ? {} : { runtime: flags.runtime }),
      }
    : undefined
  return labRequest({
    machine: flags.machine,
    argv,
    env: {
      ...(interactive && io.stdout.columns !== undefined
        ? { LAB_COLUMNS: String(io.stdout.columns), LAB_ROWS: String(process.stdout.rows) }
        : {}),
      ...parseEnv(flags.env),
    },
    memoryMiB: flags.memory,
    cpus: flags.cpus,
    disks: flags.disk.map((file) => resolve(file)),
    containerd,
    timeoutS: flags.timeout,
    out: flags.out === undefined ? undefined : resolve(flags.out),
    cacheDir: flags.cache === undefined ? cacheDirectory(io.env) : resolve(flags.cache),
    interactive,
  })
}

/** A stopped machine can leave the terminal in raw mode. */
async function keepingTerminal(work: () => Promise<void>): Promise<void> {
  const stty = (...args: string[]): string =>
    spawnSync('stty', args, { stdio: ['inherit', 'pipe', 'ignore'], encoding: 'utf8' }).stdout.trim()
  const saved = stty('-g')
  try {
    await work()
  } finally {
    if (saved !== '') stty(saved)
  }
}

function followTerminal(listener: (size: WindowSize) => void): () => void {
  const { stdout } = process
  const tell = (): void => listener({ rows: stdout.rows, columns: stdout.columns })
  stdout.on('resize', tell)
  return () => stdout.off('resize', tell)
}

async function runRequest(request: LabRequest, io: Io): Promise<void> {
  const streams =
    io.stdout === process.stdout
      ? ({ stdout: 'inherit', stderr: 'inherit' } as const)
      : { stdout: io.stdout as NodeJS.WritableStream, stderr: io.stderr as NodeJS.WritableStream }
  let stoppedBy: NodeJS.Signals = 'SIGINT'
  const outcome = await untilSignal(
    (signal) =>
      runLab(request, request.interactive ? { ...streams, onResize: followTerminal } : streams, signal),
    {
      names: ['SIGINT', 'SIGTERM', 'SIGHUP'],
      onSignal(name) {
        stoppedBy = name
      },
      again: 'ignored',
    },
  )
  if (outcome.kind === 'timeout')
    io.stderr.write(`keelson lab: timeout: the command did not finish within ${outcome.seconds} s\n`)
  io.exitCode = outcome.kind === 'stopped' ? 128 + constants.signals[stoppedBy] : exitCodeOf(outcome)
}

export function create(io: Io): Command {
  const lab = new Command('lab').description(
    'Run commands in a lab machine: a real kernel with cgroup v2, booted as an ordinary process.',
  )
  withOptions(
    lab.command('run').argument('<command...>', 'command to run inside, after --'),
    labDefaults.timeoutS,
  )
    .summary('run a command inside and return its exit status')
    .description('Boot a lab machine, run a command in it, stream its output and return its exit status.')
    .addHelpText('after', `${machines}\n${examples}`)
    .action((argv: string[], flags: Flags) => runRequest(toRequest(flags, argv, io, false), io))
  withOptions(lab.command('shell'), 24 * 3600)
    .summary('open a shell inside')
    .description('Boot a lab machine and open a shell on its console. The machine stops with the shell.')
    .addHelpText('after', machines)
    .action((flags: Flags) => {
      if (!io.stdout.isTTY)
        throw keelsonError('usage.invalid', 'keelson lab shell needs a terminal; use keelson lab run')
      return keepingTerminal(() => runRequest(toRequest(flags, ['bash', '-i'], io, true), io))
    })
  return lab
}
