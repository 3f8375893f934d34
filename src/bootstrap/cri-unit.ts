// The systemd unit of `keelson cri` as `keelson cri install` writes it.
import type { ValuesMode } from '../core/cri/values-mode.js'
import { socketPathOf } from './cri-socket.js'

interface CriUnit {
  /** The program and words before `cri`, such as node and a script. */
  readonly program: readonly string[]
  readonly upstream: string
  readonly listen: string
  readonly mode: 'complete' | 'observe'
  readonly values: ValuesMode
}

/** One word of a command line of systemd: quoted, with its two marks for variables doubled. */
export const quoteForUnit = (word: string): string => {
  const plain = word.replaceAll('%', '%%').replaceAll('$', '$$$$')
  return /^[\w%$@+,./:=-]+$/.test(plain)
    ? plain
    : `"${plain.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

/** Homes are out of sight of the service, unless the program itself lives in one. */
const protectsHome = (program: readonly string[]): boolean =>
  !program.some((word) => /^\/(home|root|run\/user)\//.test(word))

/** `unix:///run/keelson/cri.sock` -> `keelson`: made by systemd at each start; elsewhere the directory must be there. */
const runtimeDirectory = (socket: string): string | undefined =>
  /^\/(?:var\/)?run\/([^/]+)\/[^/]+$/.exec(socket)?.[1]

export function formatCriUnit({ program, upstream, listen, mode, values }: CriUnit): string {
  const socket = socketPathOf(listen)
  const directory = runtimeDirectory(socket)
  const words = [
    ...program,
    'cri',
    // The name that 0.1.0 knows too: after a downgrade the unit must still start.
    '--upstream',
    upstream,
    '--listen',
    listen,
    ...(mode === 'complete' ? [] : ['--mode', mode]),
    ...(values === 'repair' ? [] : ['--values', values]),
  ]
  return `# Written by keelson cri install; keelson cri uninstall removes it. Set more options of the server in
# /etc/default/keelson-cri: KEELSON_CRI_ARGS="...".
[Unit]
Description=Keelson CRI server
# Starts after the runtime and before the kubelet, but requires neither: without the runtime, calls fail at once.
After=containerd.service crio.service
Before=kubelet.service keelson-kubelet.service
StartLimitIntervalSec=0

[Service]
# Large buffers of answers go back to the kernel when they are free: about 6 MiB.
Environment=MALLOC_TRIM_THRESHOLD_=131072
EnvironmentFile=-/etc/default/keelson-cri
ExecStart=${words.map(quoteForUnit).join(' ')} $KEELSON_CRI_ARGS
# The unit is started when the socket exists, so that the kubelet finds it.
ExecStartPost=/bin/sh -c 'until [ -S "$$1" ]; do kill -0 "$$MAINPID" || exit 1; sleep 0.1; done' sh ${quoteForUnit(socket)}
TimeoutStartSec=60
Restart=always
RestartSec=1
# A blocked process is restarted: its event loop notifies systemd every minute.
WatchdogSec=120
WatchdogSignal=SIGKILL
NotifyAccess=all
${directory === undefined ? '' : `RuntimeDirectory=${quoteForUnit(directory)}\nRuntimeDirectoryPreserve=yes\n`}# All pods of the node depend on it.
OOMScoreAdjust=-999
LimitNOFILE=65536
UMask=0077
NoNewPrivileges=yes
${protectsHome(program) ? 'ProtectHome=yes\n' : ''}RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK

[Install]
WantedBy=multi-user.target
`
}
