// What runs first inside a machine: two short scripts written for each run. `init` is process 1 on the host's read-only
// files and puts a memory-backed overlay over them; `job` runs the command. Words of the user never become
// script text: argv, environment and directory are files of NUL-ended strings.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { keelsonError } from '../core/errors.js'
import { forwardLine } from './forward/guest.js'
import { hasSystemd, type MachineName } from './machine.js'
import { windowFile } from './window.js'

export interface GuestPlan {
  readonly machine: MachineName
  /** The run's directory on the host; the same path inside, and writable there. */
  readonly runDir: string
  readonly out: string
  /** What the overlay lies on: `/`, or a sysroot. */
  readonly lower: string
  /** Host paths that must be seen at the same place when the root is a sysroot. */
  readonly visible: readonly string[]
  readonly modules: string
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly interactive: boolean
}

const modules = [
  'overlay',
  'veth',
  'bridge',
  'br_netfilter',
  'iptable_nat',
  'iptable_filter',
  'xt_MASQUERADE',
  'xt_nat',
  'xt_comment',
  'xt_multiport',
  'xt_mark',
  'xt_addrtype',
  'xt_statistic',
  'xt_conntrack',
]

/** Single quotes make every character literal for a shell. */
export const quoteForShell = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`

const searchPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Where the command's output goes: lines of their own, so that kernel messages do not mix in. */
const lines = (machine: MachineName): { out: string; err: string } =>
  machine === 'qemu' ? { out: '/dev/hvc0', err: '/dev/hvc1' } : { out: '/dev/ttyS0', err: '/dev/ttyS1' }

const init = (plan: GuestPlan): string => `#!/bin/bash
export PATH=${searchPath}
new=/run/root lower=${quoteForShell(plan.lower)} modules=${quoteForShell(plan.modules)}
run=${quoteForShell(plan.runDir)} out=${quoteForShell(plan.out)}
visible=(${plan.visible.map(quoteForShell).join(' ')})
stop() { echo "lab: $*"; echo o > /proc/sysrq-trigger; sleep 5; busybox poweroff -f; }
mount -t proc proc /proc
mount -o remount,bind,ro / 2> /dev/null
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/upper /run/work $new
insmod "$modules/kernel/fs/overlayfs/overlay.ko"
mount -t overlay -o "lowerdir=$lower,upperdir=/run/upper,workdir=/run/work" overlay $new || stop "no overlay"
mkdir -p $new/{proc,sys,dev,run,tmp} "$new/lib/modules/$(uname -r)"
mount -t devtmpfs devtmpfs $new/dev
mount -t proc proc $new/proc
mount -t sysfs sysfs $new/sys
mount -t tmpfs -o mode=755 tmpfs $new/run
mount --bind "$modules" "$new/lib/modules/$(uname -r)"
for path in "\${visible[@]}"; do
  if [ -d "$path" ]; then mkdir -p "$new$path"; else mkdir -p "$new\${path%/*}"; : >> "$new$path"; fi
  mount --bind "$path" "$new$path" || echo "lab: cannot mount $path"
done
for path in "$run" "$out"; do
  mkdir -p "$new$path"
  ${plan.machine === 'qemu' ? 'mount --bind "$path" "$new$path" && mount -o remount,bind,rw "$new$path"' : 'mount -t hostfs -o "$path" none "$new$path"'} || stop "no $path"
done
${hasSystemd(plan.machine) ? 'mkdir -p $new/etc/systemd/system/multi-user.target.wants; cp "$run/lab.service" $new/etc/systemd/system/; ln -sf ../lab.service $new/etc/systemd/system/multi-user.target.wants/lab.service' : ''}
mkdir -p $new/run/host
pivot_root $new $new/run/host || stop "no pivot_root"
cd /
umount -l /run/host && rmdir /run/host
exec ${hasSystemd(plan.machine) ? '/lib/systemd/systemd' : 'bash "$run/job"'} < /dev/console > /dev/console 2>&1
`

/** Without systemd the job is process 1 and sets up what systemd would have. */
const plainSetup = `ln -sfn /proc/self/fd /dev/fd
for i in 0:stdin 1:stdout 2:stderr; do ln -sfn /proc/self/fd/\${i%:*} /dev/\${i#*:}; done
mkdir -p /dev/pts /dev/shm /run/lock /var/lib/{containerd,cni,kubelet} /etc/cni
mount -t devpts -o ptmxmode=666 devpts /dev/pts
for path in /dev/shm /var/lib/{containerd,cni,kubelet} /etc/cni; do mount -t tmpfs -o mode=755 tmpfs $path; done
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir /sys/fs/cgroup/lab && echo $$ > /sys/fs/cgroup/lab/cgroup.procs
hostname lab-node
`

/**
 * The console's program, after the console has its size: a line without an open descriptor forgets it (hvc does). Then each size
 * that the terminal gets; the kernel notifies the programs at the console. $0 is the directory of the run.
 */
const sizedConsole = (tty: string): string => `stty sane
[ -z "$LAB_ROWS" ] || stty rows "$LAB_ROWS" cols "$LAB_COLUMNS"
n=1
while :; do
  if read -r rows columns < "$0/${windowFile('', '$n')}"; then stty rows "$rows" cols "$columns" -F ${tty}; n=$((n + 1))
  else sleep 0.5; fi
done < /dev/null > /dev/null 2>&1 &
exec "$@"`

const job = (plan: GuestPlan): string => {
  const { out, err } = lines(plan.machine)
  return `#!/bin/bash
export PATH=${searchPath}
run=${quoteForShell(plan.runDir)}
${hasSystemd(plan.machine) ? '' : plainSetup}
for c in $(< /sys/fs/cgroup/cgroup.controllers); do echo "+$c" > /sys/fs/cgroup/cgroup.subtree_control; done
mkdir -p -m 1777 /run/tmp
modprobe -qa ${modules.join(' ')}
${plan.machine === 'uml' ? '[ ! -e /usr/sbin/xtables-nft-multi ] || mount --bind /usr/sbin/xtables-legacy-multi /usr/sbin/xtables-nft-multi' : ''}
ip link set lo up
echo 1 > /proc/sys/net/ipv4/ip_forward
mapfile -d '' -t words < "$run/env"; for word in "\${words[@]}"; do export "$word"; done
mapfile -d '' -t argv < "$run/argv"
mapfile -d '' -t cwd < "$run/cwd"
cd "\${cwd[0]}" || { echo "lab: \${cwd[0]} does not exist inside; running in /"; cd /; }
${
  plan.interactive
    ? `setsid -c bash -c ${quoteForShell(sizedConsole(out))} "$run" "\${argv[@]}" < ${out} > ${out} 2>&1`
    : `for tty in ${out} ${err}; do stty raw -echo -F $tty; done
[ -z "$LAB_FORWARD" ] || stty raw -echo -F ${forwardLine}
"\${argv[@]}" < /dev/null > ${out} 2> ${err}`
}
status=$?
echo $status > "$run/status.new" && mv "$run/status.new" "$run/status"
sync
${hasSystemd(plan.machine) ? 'systemctl poweroff -ff' : 'exec busybox poweroff -f'}
`
}

/** An allowed memory node makes systemd keep the cpuset controller on, where the kernel has one. */
const unit = (plan: GuestPlan): string => `[Unit]
Description=command of keelson lab
Wants=dbus.service
After=dbus.service
[Service]
Type=oneshot
ExecStart=/bin/bash ${plan.runDir}/job
StandardOutput=tty
StandardError=tty
TTYPath=/dev/console
TimeoutStartSec=infinity
Delegate=yes
${plan.machine === 'qemu' ? 'AllowedMemoryNodes=0\n' : ''}`

const strings = (list: readonly string[]): string => list.map((s) => `${s}\0`).join('')

export async function writeGuest(plan: GuestPlan): Promise<string> {
  for (const text of [...plan.argv, ...Object.entries(plan.env).flat(), plan.cwd])
    if (text.includes('\0')) throw keelsonError('usage.invalid', 'a command must not contain NUL characters')
  for (const path of [plan.runDir, plan.out, plan.lower])
    if (/[,:\s\\]/.test(path))
      throw keelsonError('lab.unsupported', `mount options cannot carry the path ${JSON.stringify(path)}`, {
        path,
      })
  const file = join(plan.runDir, 'init')
  await mkdir(plan.out, { recursive: true })
  await Promise.all([
    writeFile(file, init(plan), { mode: 0o755 }),
    writeFile(join(plan.runDir, 'job'), job(plan), { mode: 0o755 }),
    writeFile(join(plan.runDir, 'lab.service'), unit(plan)),
    writeFile(join(plan.runDir, 'argv'), strings(plan.argv)),
    writeFile(join(plan.runDir, 'env'), strings(Object.entries(plan.env).map(([k, v]) => `${k}=${v}`))),
    writeFile(join(plan.runDir, 'cwd'), strings([plan.cwd])),
  ])
  return file
}
