// critest makes System V segments for its specs of IPC namespaces and leaves them. In a machine they end with the kernel; on
// the host they are looked for, told by what is known of them, and removed.
import { readFile } from 'node:fs/promises'
import { runCommand } from '../process.js'

export interface Segment {
  readonly id: string
  readonly size: number
  readonly attached: number
}

const SPEC_SIZE = 1_048_576 // what critest asks ipcmk for

/** /proc/sysvipc/shm: key shmid perms size cpid lpid nattch ... */
export function parseSegments(text: string): Segment[] {
  return text
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .map((f) => ({ id: f[1] ?? '', size: Number(f[3]), attached: Number(f[6]) }))
}

/** New, of critest's size, and in nobody's use. */
export function leftSegments(before: readonly Segment[], after: readonly Segment[]): string[] {
  const known = new Set(before.map((s) => s.id))
  return after.filter((s) => !known.has(s.id) && s.size === SPEC_SIZE && s.attached === 0).map((s) => s.id)
}

export const readSegments = async (): Promise<Segment[]> =>
  parseSegments(await readFile('/proc/sysvipc/shm', 'utf8').catch(() => ''))

export async function removeLeftSegments(before: readonly Segment[]): Promise<void> {
  for (const id of leftSegments(before, await readSegments()))
    await runCommand('ipcrm', ['-m', id], { timeoutMs: 10_000, accept: [0, 1] })
}
