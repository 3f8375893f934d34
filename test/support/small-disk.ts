// A file system of a given size on a file of its own, mounted below a temporary directory: real blocks that really run out.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface SmallDisk {
  readonly path: string
  remove(): void
}

/** Needs root. */
export function mountSmallDisk(mib: number): SmallDisk {
  const directory = mkdtempSync(join(tmpdir(), 'keelson-disk-'))
  const [image, path] = [join(directory, 'image'), join(directory, 'mounted')]
  writeFileSync(image, '')
  truncateSync(image, mib * 1024 * 1024)
  mkdirSync(path)
  // Nothing is kept for root, and there are inodes enough for the layers of images.
  execFileSync('mkfs.ext4', ['-q', '-F', '-m', '0', '-i', '8192', image])
  execFileSync('mount', ['-o', 'loop', image, path])
  return {
    path,
    remove() {
      execFileSync('umount', ['-l', path])
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
