// The packages that need no package manager: the npm tarball, the tarball with Node inside, the image.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { formatLayer, type ImageSpec } from '../../src/lab/images/archive.js'
import { nodeFlag } from './node-flag.js'
import type { NodeFiles } from './node-release.js'
import { moveBelow, type TreeFile, withDirectories } from './program-files.js'
import type { Release } from './release.js'
import type { SystemLibraries } from './system-libraries.js'

/** In every package with Node inside: the program's directory, relative to the prefix. */
export const home = 'lib/keelson'

export const imageReference = (version: string): string => `keelson.local/keelson:${version}`

/** Node's binary at the highest level costs twice the time for one percent. */
export const gzipped = (data: Buffer, level = 6): Promise<Buffer> => promisify(gzip)(data, { level })

export const sha256 = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex')

export const npmTarball = async (program: readonly TreeFile[], { date }: Release): Promise<Buffer> =>
  gzipped(await formatLayer(moveBelow('package', program), date))

/** Runs from wherever the directory is unpacked, also through a link to it. */
const launcher = `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
exec "$here/../${home}/node" ${nodeFlag} "$here/../${home}/dist/cli/main.js" "$@"
`

/** For fixed places and for an image without a shell (a first line can have one flag): run by our own Node, whatever \`node\` on the machine is. */
export const fixedLauncher = `#!/usr/${home}/node ${nodeFlag}
import('/usr/${home}/dist/cli/main.js')
`

/** The program with Node beside it, below a prefix such as /usr. */
export const withNode = (program: readonly TreeFile[], node: NodeFiles): TreeFile[] =>
  moveBelow(home, [
    ...program,
    { path: 'node', data: readFileSync(node.binary), mode: 0o755 },
    { path: 'LICENSE.node', data: readFileSync(node.license), mode: 0o644 },
  ])

export interface TarballInput {
  readonly program: readonly TreeFile[]
  readonly node: NodeFiles
  /** Manual pages and completion, below `share/`. */
  readonly share: readonly TreeFile[]
}

export async function linuxTarball(
  { program, node, share }: TarballInput,
  release: Release,
): Promise<Buffer> {
  const files = withDirectories(
    moveBelow(`keelson-${release.version}-linux-x64`, [
      { path: 'bin/keelson', data: Buffer.from(launcher), mode: 0o755 },
      ...withNode(program, node),
      ...moveBelow('share', share),
    ]),
  )
  return gzipped(await formatLayer(files, release.date))
}

const emptyDirectories = ['proc', 'sys', 'dev', 'run', 'var/lib/keelson'].map((path) => ({
  path,
  mode: 0o755,
}))

export const imageSpec = (
  program: readonly TreeFile[],
  node: NodeFiles,
  libraries: SystemLibraries,
  { version, date }: Release,
): ImageSpec => ({
  reference: imageReference(version),
  files: withDirectories([
    ...emptyDirectories,
    { path: 'tmp', mode: 0o1777 },
    { path: 'etc/passwd', data: Buffer.from('root:x:0:0:root:/:/bin/false\n'), mode: 0o644 },
    { path: 'etc/group', data: Buffer.from('root:x:0:\n'), mode: 0o644 },
    { path: 'usr/bin/keelson', data: Buffer.from(fixedLauncher), mode: 0o755 },
    ...moveBelow('usr', withNode(program, node)),
    ...libraries.files,
  ]),
  entrypoint: ['/usr/bin/keelson'],
  command: ['--help'],
  labels: {
    'org.opencontainers.image.title': 'keelson',
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.licenses': 'Apache-2.0',
    'org.opencontainers.image.created': date.toISOString(),
  },
  compress: true,
})
