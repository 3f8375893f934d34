// Which Debian packages a machine needs, found by their files; installs missing ones or names them.
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { keelsonError } from '../core/errors.js'
import type { MachineName } from './machine.js'
import { lastLines, runProgram, searchPath } from './process.js'

interface Need {
  readonly package: string
  /** A command on PATH, or an absolute path. */
  readonly file: string
}

const anyMachine: readonly Need[] = [
  { package: 'busybox-static', file: 'busybox' },
  { package: 'util-linux', file: 'unshare' },
  { package: 'coreutils', file: 'stty' },
  { package: 'kmod', file: 'modprobe' },
  { package: 'iproute2', file: 'ip' },
]
const uml: readonly Need[] = [{ package: 'user-mode-linux', file: 'linux.uml' }]
const qemu: readonly Need[] = [
  { package: 'qemu-system-x86', file: 'qemu-system-x86_64' },
  { package: 'qemu-system-common', file: '/usr/lib/qemu/virtiofsd' },
]
const sysroot: readonly Need[] = [{ package: 'debootstrap', file: 'debootstrap' }]
const containerd: readonly Need[] = [
  { package: 'containerd', file: 'containerd' },
  { package: 'runc', file: 'runc' },
  { package: 'containernetworking-plugins', file: '/usr/lib/cni/bridge' },
  { package: 'iptables', file: 'iptables' },
]

export type NeedOf = MachineName | 'containerd' | 'images' | 'disk' | 'clock'

const needs: Readonly<Record<NeedOf, readonly Need[]>> = {
  uml: [...anyMachine, ...uml],
  'uml-systemd': [...anyMachine, ...uml, ...sysroot],
  qemu: [...anyMachine, ...qemu, ...sysroot],
  containerd,
  images: [
    { package: 'busybox-static', file: 'busybox' },
    { package: 'tcc', file: 'cc' },
  ],
  disk: [{ package: 'e2fsprogs', file: 'mkfs.ext4' }],
  clock: [{ package: 'faketime', file: 'faketime' }],
}

/** Everything that any machine may ask for. */
export const allPackages = (): string[] => [
  ...new Set(Object.values(needs).flatMap((list) => list.map((n) => n.package))),
]

export function findCommand(file: string, path = process.env.PATH ?? ''): string | undefined {
  const candidates = file.startsWith('/') ? [file] : searchPath(path).map((d) => join(d, file))
  return candidates.find((c) => {
    try {
      accessSync(c, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** A mirror that fails once is asked again; a fresh machine may still be at its own updates, which are waited for. */
export const patientApt = ['-o', 'Acquire::Retries=5', '-o', 'DPkg::Lock::Timeout=600'] as const

type Find = (file: string) => string | undefined

export const missingPackages = (what: readonly NeedOf[], find: Find = findCommand): string[] => [
  ...new Set(
    what
      .flatMap((w) => needs[w])
      .filter((n) => find(n.file) === undefined)
      .map((n) => n.package),
  ),
]

/** In a machine with its own sysroot containerd comes from there; the host needs it only for the plain UML machine. */
export const needsOf = (machine: MachineName, withContainerd: boolean): NeedOf[] =>
  !withContainerd ? [machine] : machine === 'uml' ? [machine, 'containerd', 'images'] : [machine, 'images']

export async function ensurePackages(
  what: readonly NeedOf[],
  signal: AbortSignal,
  progress: (line: string) => void,
  machine: { readonly root: boolean; readonly find: Find } = {
    root: process.getuid?.() === 0,
    find: findCommand,
  },
): Promise<void> {
  if (process.arch !== 'x64')
    throw keelsonError('lab.unsupported', `the lab's kernels are for x86-64; this machine is ${process.arch}`)
  const missing = missingPackages(what, machine.find)
  if (missing.length === 0) return
  const command = `apt-get install -y --no-install-recommends ${missing.join(' ')}`
  const apt = machine.find('apt-get')
  if (apt === undefined || !machine.root)
    throw keelsonError(
      'lab.missing',
      `the lab needs Debian packages that are not installed: ${missing.join(', ')}; as root run: ${command}`,
      { missing, command },
    )
  progress(`installing ${missing.join(', ')}`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const onOutput = (text: string): void => {
    for (const line of text.split('\n')) if (/^(Get:|Unpacking|Setting up|E:)/.test(line)) progress(line)
  }
  const options = { signal, env, onOutput }
  const install = (): ReturnType<typeof runProgram> =>
    runProgram([apt, ...patientApt, 'install', '-y', '--no-install-recommends', ...missing], options)
  let result = await install()
  if (result.code !== 0) {
    await runProgram([apt, ...patientApt, 'update'], options)
    result = await install()
  }
  const left = missingPackages(what, machine.find)
  if (result.code !== 0 || left.length > 0)
    throw keelsonError('lab.missing', `${command} failed:\n${lastLines(result.output, 10)}`, {
      missing: left,
      command,
    })
}
