// Reads control files through kept descriptors into one buffer. The result is a view that the next read overwrites.
import { readSync } from 'node:fs'
import { cgroupError, errnoOf, isAbsent } from '../../core/cgroup/errors.js'
import type { DescriptorCache } from './descriptors.js'

const BUFFER_BYTES = 64 * 1024
/** The kernel fills at most a page a call for files of many records (cgroup.procs): from here on, ask again. */
const MAYBE_MORE_BYTES = 3 * 1024
const MAX_FILE_BYTES = 64 * 1024 * 1024

export class ControlReader {
  private buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)
  /** Views by length: small files have few lengths, and making a view costs a tenth of a read. */
  private views: (Uint8Array | undefined)[] = []

  constructor(private readonly descriptors: DescriptorCache) {}

  read(path: string, file: string): Uint8Array | undefined {
    const fd = this.descriptors.get(path, file)
    if (fd === undefined) return undefined
    try {
      return this.readFrom(fd)
    } catch (error) {
      return this.readAgain(path, file, error)
    }
  }

  private readFrom(fd: number): Uint8Array {
    const n = readSync(fd, this.buffer, 0, BUFFER_BYTES, 0)
    if (n >= MAYBE_MORE_BYTES) return this.readRest(fd, n)
    return this.views[n] ?? this.makeView(n)
  }

  private makeView(length: number): Uint8Array {
    const view = new Uint8Array(this.buffer.buffer, 0, length)
    this.views[length] = view
    return view
  }

  private readRest(fd: number, already: number): Uint8Array {
    let length = already
    for (;;) {
      if (length === this.buffer.length) this.grow()
      const n = readSync(fd, this.buffer, length, this.buffer.length - length, length)
      if (n === 0) return new Uint8Array(this.buffer.buffer, 0, length)
      length += n
    }
  }

  private grow(): void {
    if (this.buffer.length >= MAX_FILE_BYTES)
      throw new Error(`a control file of more than ${MAX_FILE_BYTES} bytes`)
    const larger = Buffer.allocUnsafeSlow(this.buffer.length * 2)
    this.buffer.copy(larger)
    this.buffer = larger
    this.views = []
  }

  /** ENODEV: this descriptor's cgroup was removed. Another one may have taken its name since. */
  private readAgain(path: string, file: string, error: unknown): Uint8Array | undefined {
    const failed = (cause: unknown) => cgroupError(`read ${file} of ${path}`, { path, file }, cause)
    if (!isAbsent(error)) throw failed(error)
    if (errnoOf(error) !== 'ENODEV') return undefined
    this.descriptors.drop(path)
    const fd = this.descriptors.get(path, file)
    if (fd === undefined) return undefined
    try {
      return this.readFrom(fd)
    } catch (second) {
      if (isAbsent(second)) return undefined
      throw failed(second)
    }
  }
}
