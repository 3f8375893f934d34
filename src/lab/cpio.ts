// Writes a cpio archive in the `newc` form, the one that Linux unpacks as its initial root.

export interface CpioEntry {
  readonly path: string
  /** Absent: a directory. */
  readonly data?: Uint8Array
  readonly mode: number
}

const directory = 0o040000
const regular = 0o100000

const hex = (n: number): string => n.toString(16).padStart(8, '0')
const padding = (length: number): Buffer => Buffer.alloc((4 - (length % 4)) % 4)

function record(path: string, mode: number, data: Uint8Array, inode: number): Buffer[] {
  const name = Buffer.from(`${path}\0`)
  const links = (mode & directory) === directory ? 2 : 1
  const fields = [inode, mode, 0, 0, links, 0, data.length, 0, 0, 0, 0, name.length, 0]
  const header = Buffer.from(`070701${fields.map(hex).join('')}`)
  return [header, name, padding(header.length + name.length), Buffer.from(data), padding(data.length)]
}

export function formatCpio(entries: readonly CpioEntry[]): Buffer {
  const parts = entries.flatMap((e, i) =>
    record(e.path, e.mode | (e.data === undefined ? directory : regular), e.data ?? new Uint8Array(), i + 1),
  )
  return Buffer.concat([...parts, ...record('TRAILER!!!', 0, new Uint8Array(), 0)])
}
