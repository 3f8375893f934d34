// The command lines of the two emulators. What boots is decided here; what happens inside is guest.ts.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { keelsonError } from '../core/errors.js'
import type { Kernel } from './kernel.js'
import type { LabRequest } from './machine.js'

export interface MachinePlan {
  /** Programs that must be up before the machine: the file server of the QEMU machine. */
  readonly before: readonly { readonly argv: readonly string[]; readonly socket: string }[]
  readonly argv: readonly string[]
  /** How the command's output leaves: as descriptors 3 and 4, or through sockets that we listen on. */
  readonly output: 'descriptors' | 'sockets'
}

const umlModules = '/usr/lib/uml/modules'

export function umlModulesDirectory(): string {
  const [release] = readdirSync(umlModules)
  if (release === undefined)
    throw keelsonError('lab.missing', `${umlModules} is empty; reinstall user-mode-linux`)
  return join(umlModules, release)
}

/**
 * UML keeps the guest's memory in a file on a tmpfs. A tmpfs in a private mount namespace has the size that we set
 * and is gone with the process, whatever ends it. UML is many processes, some of which outlive a killed kernel; as
 * the first of a process namespace it takes them with it. The words after the script are arguments, not script.
 */
const privateNamespaces = (runDir: string, memoryMiB: number): string[] => [
  'unshare',
  '--mount',
  '--propagation',
  'private',
  '--pid',
  '--fork',
  '--kill-child=KILL',
  'sh',
  '-c',
  'mount -t tmpfs -o "size=$1m" lab-memory "$2" && shift && TMPDIR=$1 && export TMPDIR && shift && exec "$@"',
  'sh',
  String(memoryMiB + 64),
  join(runDir, 'memory'),
]

export function planUml(
  request: LabRequest,
  runDir: string,
  init: string,
  options: { readonly root: boolean; readonly cpu: number | undefined; readonly preload: readonly string[] },
): MachinePlan {
  const io = request.interactive ? ['ssl0=fd:0,fd:1'] : ['ssl0=null,fd:3', 'ssl1=null,fd:4']
  const forward = request.forward === undefined || request.interactive ? [] : ['ssl2=fd:5,fd:6']
  return {
    before: [],
    output: 'descriptors',
    argv: [
      ...(options.root ? privateNamespaces(runDir, request.memoryMiB) : []),
      // Its processes hand over to each other at every system call: 2-3 times cheaper on one CPU.
      ...(options.cpu === undefined ? [] : ['taskset', '-c', String(options.cpu)]),
      ...options.preload,
      'linux.uml',
      'root=/dev/root',
      'rootfstype=hostfs',
      'rootflags=/',
      'ro',
      `mem=${request.memoryMiB}M`,
      ...request.disks.map((file, i) => `ubd${i}=${file}`),
      `uml_dir=${runDir}/uml/`,
      `init=${init}`,
      'con=null',
      request.interactive ? 'con0=null,fd:3' : 'con0=null,fd:1',
      ...io,
      ...forward,
      'quiet',
      'systemd.unified_cgroup_hierarchy=1',
      'systemd.show_status=0',
    ],
  }
}

const virtiofsd = '/usr/lib/qemu/virtiofsd'

export function planQemu(request: LabRequest, runDir: string, init: string, kernel: Kernel): MachinePlan {
  const files = join(runDir, 'files.sock')
  const append = [
    'console=ttyS0',
    'quiet',
    'panic=-1',
    'psi=1',
    'mitigations=off',
    'systemd.unified_cgroup_hierarchy=1',
    'systemd.show_status=0',
    `lab.init=${init}`,
  ]
  const console = (id: string, backend: string): string[] => [
    '-chardev',
    backend,
    '-device',
    `virtconsole,chardev=${id}`,
  ]
  return {
    // In a mount namespace pivot_root is refused where / is not a mount point; chroot always works.
    before: [
      {
        argv: [virtiofsd, `--socket-path=${files}`, '-o', 'source=/,cache=always,sandbox=chroot'],
        socket: files,
      },
    ],
    output: 'sockets',
    argv: [
      'qemu-system-x86_64',
      ...['-accel', 'tcg,thread=multi', '-cpu', 'max', '-smp', String(request.cpus)],
      ...['-m', String(request.memoryMiB), '-machine', 'pc,memory-backend=memory'],
      ...['-object', `memory-backend-memfd,id=memory,size=${request.memoryMiB}M,share=on`],
      ...['-nodefaults', '-no-user-config', '-no-reboot', '-display', 'none'],
      ...['-kernel', kernel.image, '-initrd', kernel.initrd, '-append', append.join(' ')],
      ...['-chardev', `file,id=log,path=${join(runDir, 'console.log')}`, '-serial', 'chardev:log'],
      ...['-chardev', `socket,id=files,path=${files}`],
      ...['-device', 'vhost-user-fs-pci,chardev=files,tag=host,queue-size=1024'],
      ...['-device', 'virtio-serial-pci'],
      ...(request.interactive
        ? console('out', 'stdio,id=out,signal=off')
        : [
            ...console('out', `socket,id=out,path=${join(runDir, 'out.sock')}`),
            ...console('err', `socket,id=err,path=${join(runDir, 'err.sock')}`),
          ]),
      ...request.disks.flatMap((file) => [
        '-drive',
        `file=${file.replaceAll(',', ',,')},format=raw,if=virtio`,
      ]),
    ],
  }
}

/** Device names inside, in the order of the request's disks. */
export const diskDevices = (request: Pick<LabRequest, 'machine' | 'disks'>): string[] =>
  request.disks.map(
    (_, i) => `/dev/${request.machine === 'qemu' ? 'vd' : 'ubd'}${String.fromCharCode(97 + i)}`,
  )
