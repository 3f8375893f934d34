// The QEMU machine's kernel: Debian's cloud kernel, downloaded and unpacked but never installed, and the initial root that
// brings it from power-on to the host's files.
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { keelsonError } from '../core/errors.js'
import type { CachedPart } from './cache.js'
import { type CpioEntry, formatCpio } from './cpio.js'
import { findCommand, patientApt } from './packages.js'
import { mustRun } from './process.js'

export interface Kernel {
  readonly image: string
  readonly initrd: string
  readonly modules: string
  readonly release: string
}

/** With what they need, these lead to the host's files, disks and consoles. */
const earlyModules = ['virtio_pci', 'virtio_blk', 'virtio_console', 'virtiofs']

/** Files of modules in the order in which they load. A line of modules.dep has the file and all that it needs, what loads first last. */
export function loadOrder(modulesDep: string, names: readonly string[]): readonly string[] {
  const needed = new Map(
    modulesDep
      .split('\n')
      .map((line) => line.split(':'))
      .map(([file = '', others = '']) => [file, others.trim().split(/\s+/).filter(Boolean)]),
  )
  const files = names.flatMap((name) => {
    const file = [...needed.keys()].find((f) => basename(f) === `${name}.ko`)
    if (file === undefined) throw keelsonError('lab.unsupported', `the kernel package has no module ${name}`)
    return [...(needed.get(file) ?? []).toReversed(), file]
  })
  return [...new Set(files)]
}

/** Then the lab's own init takes over, in the same way as under UML: the host's files are the root. */
const init = `#!/bin/busybox sh
b=/bin/busybox
$b mount -t devtmpfs dev /dev
$b mount -t proc proc /proc
for m in /modules/*.ko; do $b insmod "$m" || echo "lab: no module $m"; done
for word in $($b cat /proc/cmdline); do case $word in lab.init=*) next=\${word#lab.init=} ;; esac; done
$b mount -t virtiofs host /host || { echo "lab: no host files"; $b poweroff -f; }
$b umount /proc
$b mount --move /dev /host/dev
exec $b switch_root /host "$next"
`

const meta = 'linux-image-cloud-amd64'

export const cloudKernel: CachedPart = {
  name: 'cloud-kernel',
  recipe: { meta, earlyModules, init, format: 2 },
  async build(dir, signal) {
    const depends = await mustRun(['apt-cache', 'depends', '--important', meta], { signal })
    const name = /Depends: (linux-image-[^\s<>]+-cloud-amd64)/.exec(depends)?.[1]
    if (name === undefined)
      throw keelsonError(
        'lab.missing',
        `apt has no package ${meta}; is a Debian archive configured? run apt-get update`,
      )
    const download = ['apt-get', ...patientApt, 'download', '-o', 'APT::Sandbox::User=root', name]
    await mustRun(download, { signal, cwd: dir })
    const deb = (await readdir(dir)).find((f) => f.endsWith('.deb'))
    if (deb === undefined) throw keelsonError('lab.missing', `apt-get download ${name} downloaded no package`)
    await mustRun(['dpkg-deb', '-x', join(dir, deb), join(dir, 'unpacked')], { signal })
    await rm(join(dir, deb))
    const { release, modules } = await modulesOf(join(dir, 'unpacked'))
    await mustRun(['depmod', '-b', join(dir, 'unpacked'), release], { signal })
    await rename(join(dir, 'unpacked/boot', `vmlinuz-${release}`), join(dir, 'vmlinuz'))
    await writeFile(join(dir, 'initrd'), gzipSync(formatCpio(await initialRoot(modules)), { level: 1 }))
  },
}

export async function kernelIn(part: string): Promise<Kernel> {
  const { release, modules } = await modulesOf(join(part, 'unpacked'))
  return { image: join(part, 'vmlinuz'), initrd: join(part, 'initrd'), modules, release }
}

async function modulesOf(root: string): Promise<{ release: string; modules: string }> {
  const [release] = await readdir(join(root, 'lib/modules'))
  if (release === undefined) throw keelsonError('lab.missing', `the kernel package in ${root} has no modules`)
  return { release, modules: join(root, 'lib/modules', release) }
}

async function initialRoot(modules: string): Promise<CpioEntry[]> {
  const busybox = findCommand('busybox')
  if (busybox === undefined) throw keelsonError('lab.missing', 'the initial root needs busybox-static')
  const files = loadOrder(await readFile(join(modules, 'modules.dep'), 'utf8'), earlyModules)
  const loaded = await Promise.all(
    files.map(async (file, i): Promise<CpioEntry> => {
      const path = `modules/${String(i).padStart(2, '0')}-${basename(file)}`
      return { path, data: await readFile(join(modules, file)), mode: 0o644 }
    }),
  )
  return [
    ...['bin', 'dev', 'proc', 'host', 'modules'].map((path): CpioEntry => ({ path, mode: 0o755 })),
    { path: 'bin/busybox', data: await readFile(busybox), mode: 0o755 },
    { path: 'init', data: Buffer.from(init), mode: 0o755 },
    ...loaded,
  ]
}
