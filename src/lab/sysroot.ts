// The small Debian with systemd that the uml-systemd and qemu machines boot: a cached part made by debootstrap.
// Nothing of a run is ever written to it; machines put a memory-backed overlay on top.
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CachedPart } from './cache.js'
import { mustRun } from './process.js'

const suite = 'bookworm'
const packages = [
  'systemd',
  'systemd-sysv',
  'dbus',
  'containerd',
  'runc',
  'crun',
  'iproute2',
  'iptables',
  'kmod',
  'containernetworking-plugins',
  'procps',
  'e2fsprogs',
  'libstdc++6',
  'conmon',
]

/** Services that only cost boot time in a machine that lives for a minute. */
const masked = [
  'systemd-udevd.service',
  'systemd-udev-trigger.service',
  'systemd-timesyncd.service',
  'systemd-resolved.service',
  'systemd-networkd.service',
  'systemd-logind.service',
  'systemd-random-seed.service',
  'systemd-update-utmp.service',
  'e2scrub_reap.service',
  'containerd.service',
  'apt-daily.timer',
  'apt-daily-upgrade.timer',
  'dpkg-db-backup.timer',
  'getty@tty1.service',
  'console-getty.service',
]

/** Each controller is on in every unit, as on a node whose kubelet accounts for everything. */
const accounting = `[Manager]
DefaultCPUAccounting=yes
DefaultIOAccounting=yes
DefaultMemoryAccounting=yes
DefaultTasksAccounting=yes
`

export const sysroot: CachedPart = {
  name: 'sysroot',
  recipe: { suite, packages, masked, accounting, format: 1 },
  async build(dir, signal) {
    // debootstrap mounts /proc in its target; in a private namespace that mount cannot outlive it.
    await mustRun(
      [
        'unshare',
        '--mount',
        '--propagation',
        'private',
        'debootstrap',
        '--variant=minbase',
        `--include=${packages.join(',')}`,
        suite,
        dir,
      ],
      { signal, env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } },
    )
    for (const waste of ['var/cache/apt', 'var/lib/apt/lists', 'usr/share/doc', 'usr/share/man', 'var/log']) {
      await rm(join(dir, waste), { recursive: true, force: true })
      await mkdir(join(dir, waste), { recursive: true })
    }
    const units = join(dir, 'etc/systemd/system')
    for (const unit of masked) await replaceLink('/dev/null', join(units, unit))
    await replaceLink('/lib/systemd/system/multi-user.target', join(units, 'default.target'))
    // UML kernels lack the nf_tables 'ip' family; the legacy iptables works in every machine.
    for (const name of ['iptables', 'ip6tables'])
      await replaceLink(`/usr/sbin/${name}-legacy`, join(dir, 'etc/alternatives', name))
    await mkdir(join(dir, 'etc/systemd/system.conf.d'), { recursive: true })
    await writeFile(join(dir, 'etc/systemd/system.conf.d/lab.conf'), accounting)
    await writeFile(join(dir, 'etc/hostname'), 'lab-node\n')
    await writeFile(join(dir, 'etc/hosts'), '127.0.0.1 localhost lab-node\n')
    await writeFile(join(dir, 'etc/fstab'), '')
    await writeFile(join(dir, 'etc/machine-id'), '6b65656c736f6e6c61626e6f64650001\n')
    await writeFile(join(dir, 'etc/resolv.conf'), '')
  },
}

async function replaceLink(target: string, path: string): Promise<void> {
  await rm(path, { recursive: true, force: true })
  await symlink(target, path)
}
