// Whether this kernel can be trusted with memory.high: before 5.9 a throttled process may stall for ever.
// Only advice comes out of it; it never stops a start.

export interface KernelVersion {
  readonly major: number
  readonly minor: number
}

export type KernelCheck =
  | { readonly kind: 'not-made'; readonly why: 'gate-off' | 'cgroup-v1' }
  | { readonly kind: 'fine'; readonly version: KernelVersion }
  | { readonly kind: 'livelock-risk'; readonly version: KernelVersion; readonly message: string }
  | { readonly kind: 'unreadable'; readonly message: string }

export interface KernelCheckInput {
  /** Text of /proc/sys/kernel/osrelease, undefined when it could not be read. */
  readonly osrelease: string | undefined
  readonly gate: boolean
  readonly cgroupVersion: 1 | 2
}

/** `5.10.0-28-cloud-amd64` is 5.10; a lone `6` is nothing. */
export function parseKernelVersion(osrelease: string): KernelVersion | undefined {
  const match = /^v?([0-9]+)\.([0-9]+)/.exec(osrelease.trim())
  return match === null ? undefined : { major: Number(match[1]), minor: Number(match[2]) }
}

export const isKernelAtLeast = (v: KernelVersion, major: number, minor: number): boolean =>
  v.major > major || (v.major === major && v.minor >= minor)

export function checkKernel(i: KernelCheckInput): KernelCheck {
  if (!i.gate) return { kind: 'not-made', why: 'gate-off' }
  if (i.cgroupVersion === 1) return { kind: 'not-made', why: 'cgroup-v1' }
  if (i.osrelease === undefined) return { kind: 'unreadable', message: 'the kernel version cannot be read' }
  const version = parseKernelVersion(i.osrelease)
  if (version === undefined) {
    const shown = JSON.stringify(i.osrelease.slice(0, 64))
    return { kind: 'unreadable', message: `the kernel version ${shown} has no leading dotted number` }
  }
  // Commit b3ff92916af3 brought forward progress at memory.high.
  if (isKernelAtLeast(version, 5, 9)) return { kind: 'fine', version }
  return {
    kind: 'livelock-risk',
    version,
    message:
      `kernel ${version.major}.${version.minor} is older than 5.9: processes that reach memory.high may ` +
      'stall without being killed; upgrade the kernel or set memoryThrottlingFactor to 1.0',
  }
}
