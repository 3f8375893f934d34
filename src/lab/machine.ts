// The vocabulary of the lab: the three machines, what may be asked of one, and how a run ends.

export const machineNames = ['uml', 'uml-systemd', 'qemu'] as const
export type MachineName = (typeof machineNames)[number]

/** On a machine that does nothing else; what --help and docs/lab.md say. */
export const bootSeconds: Readonly<Record<MachineName, number>> = { uml: 3, 'uml-systemd': 5, qemu: 12 }

/** How containerd is started inside the machine; see containerd/start.ts for the same thing on the host. */
export interface GuestContainerd {
  /** Default: true in the machines whose first process is systemd. */
  readonly systemdCgroup?: boolean
  readonly runtime?: 'runc' | 'crun'
  readonly statsPeriodS?: number
  /** Extra archives to import beside the lab's own images. */
  readonly archives?: readonly string[]
}

/** A port of the machine that is reached at a port of the host's loopback. UML machines only. */
export interface PortForward {
  readonly hostPort: number
  readonly guestPort: number
}

export interface LabRequest {
  readonly machine: MachineName
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly memoryMiB: number
  /** Only the QEMU machine has more than one. */
  readonly cpus: number
  /** Raw files that appear as block devices; inside, $LAB_DISKS names the devices in the same order. */
  readonly disks: readonly string[]
  readonly containerd: GuestContainerd | undefined
  /** Needs `containerd`, whose helper inside is the other end. */
  readonly forward?: PortForward
  /** Boot and command together; building cached parts is not counted. */
  readonly timeoutS: number
  /** The one host directory that is writable inside, as $LAB_OUT; a temporary one when absent. */
  readonly out: string | undefined
  readonly cacheDir: string
  /** A person at the console instead of a command whose output is streamed. */
  readonly interactive: boolean
}

export type LabOutcome =
  | { readonly kind: 'exit'; readonly code: number }
  | { readonly kind: 'timeout'; readonly seconds: number }
  | { readonly kind: 'stopped' }

export const hasSystemd = (machine: MachineName): boolean => machine !== 'uml'
