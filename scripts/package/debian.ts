// The Debian package: the program with its own Node below /usr/lib/keelson, units, manual pages, completion, and configuration in
// /etc. Written without dpkg-deb, so that it has the same bytes on every machine and needs no root.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { formatLayer } from '../../src/lab/images/archive.js'
import { fixedLauncher, gzipped, home, type TarballInput, withNode } from './packages.js'
import { moveBelow, type TreeFile, withDirectories } from './program-files.js'
import { type Release, readManifest, root } from './release.js'

const deploy = join(root, 'deploy')
const scripts = ['postinst', 'prerm', 'postrm'] as const

/** `1.2.0-rc.1` -> `1.2.0~rc.1`, which Debian sorts before 1.2.0. */
export const debianVersion = (version: string): string => version.replaceAll('-', '~')

const file = (path: string, data: string | Uint8Array, mode = 0o644): TreeFile => ({
  path,
  data: Buffer.from(data),
  mode,
})

/** The place of a packaged program, in the units and in the drop-in beside them. */
const withPackagedPath = (text: string): string =>
  text.replaceAll('/usr/local/bin/keelson', '/usr/bin/keelson')

const units = (): TreeFile[] =>
  readdirSync(join(deploy, 'systemd'))
    .filter((name) => name.endsWith('.service'))
    .map((name) =>
      file(
        `usr/lib/systemd/system/${name}`,
        withPackagedPath(readFileSync(join(deploy, 'systemd', name), 'utf8')),
      ),
    )

const packagedProgram = (program: readonly TreeFile[]): TreeFile[] =>
  program.map((f) =>
    'data' in f && f.path.startsWith('deploy/systemd/')
      ? { ...f, data: Buffer.from(withPackagedPath(Buffer.from(f.data).toString())) }
      : f,
  )

const configuration = (): TreeFile[] =>
  readdirSync(join(deploy, 'debian/etc'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const from = join(entry.parentPath, entry.name)
      return file(from.slice(join(deploy, 'debian/').length), readFileSync(from))
    })

const copyright = (): string => `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: keelson

Files: *
Copyright: The Keelson authors
License: Apache-2.0
 On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.

Files: usr/${home}/node
Copyright: Node.js contributors and the authors of its parts
License: Node
 The texts are in /usr/${home}/LICENSE.node.
`

function documents(): TreeFile[] {
  const at = 'usr/share/doc/keelson'
  const links = ['README.md', 'docs', 'examples', 'deploy'].map((name) => ({
    path: `${at}/${name}`,
    link: `../../../${home}/${name}`,
  }))
  const changes = gzipSync(readFileSync(join(root, 'CHANGELOG.md')), { level: 9 })
  return [...links, file(`${at}/copyright`, copyright()), file(`${at}/changelog.gz`, changes)]
}

function dataFiles({ program, node, share }: TarballInput): TreeFile[] {
  return withDirectories([
    { path: 'etc/keelson/manifests', mode: 0o755 },
    ...configuration(),
    file('usr/bin/keelson', fixedLauncher, 0o755),
    ...moveBelow('usr', withNode(packagedProgram(program), node)),
    ...moveBelow('usr/share', share),
    ...units(),
    ...documents(),
  ])
}

const sizeOf = (f: TreeFile): number => ('data' in f ? f.data.length : 0)

function controlFiles(files: readonly TreeFile[], { version }: Release): TreeFile[] {
  const manifest = readManifest()
  const sizeKiB = Math.ceil(files.reduce((sum, f) => sum + Math.ceil(sizeOf(f) / 1024), 0))
  const control = `Package: keelson
Version: ${debianVersion(version)}
Architecture: amd64
Maintainer: The Keelson authors <maintainers@keelson.dev>
Installed-Size: ${sizeKiB}
Depends: libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 9)
Suggests: containerd | cri-o
Section: admin
Priority: optional
Description: ${manifest.description}
 keelson doctor, explain and top look at a node; keelson cri and companion work
 beside its kubelet; keelson kubelet runs static pods. Node.js is inside.
 No service is enabled or started by the installation.
`
  const sums = files.flatMap((f) =>
    'data' in f && !f.path.startsWith('etc/')
      ? [`${createHash('md5').update(f.data).digest('hex')}  ${f.path}\n`]
      : [],
  )
  const conffiles = files.flatMap((f) => ('data' in f && f.path.startsWith('etc/') ? [`/${f.path}\n`] : []))
  return [
    file('control', control),
    file('md5sums', sums.join('')),
    file('conffiles', conffiles.join('')),
    ...scripts.map((name) => file(name, readFileSync(join(deploy, 'debian', name)), 0o755)),
  ]
}

/** Names as dpkg writes them: `./usr/bin/keelson`, with the root itself first. */
const dotted = (files: readonly TreeFile[]): TreeFile[] => [
  { path: './', mode: 0o755 },
  ...moveBelow('.', files),
]

const arHeader = (name: string, size: number, date: Date): string =>
  [
    name.padEnd(16),
    String(date.getTime() / 1000).padEnd(12),
    '0'.padEnd(6),
    '0'.padEnd(6),
    '100644'.padEnd(8),
    String(size).padEnd(10),
    '`\n',
  ].join('')

/** The archive that a .deb is: members one after the other, each at an even place. */
export function formatAr(members: readonly (readonly [string, Buffer])[], date: Date): Buffer {
  const parts = members.flatMap(([name, data]) => [
    Buffer.from(arHeader(name, data.length, date)),
    data,
    Buffer.alloc(data.length % 2, '\n'),
  ])
  return Buffer.concat([Buffer.from('!<arch>\n'), ...parts])
}

export async function debianPackage(input: TarballInput, release: Release): Promise<Buffer> {
  const files = dataFiles(input)
  const archive = async (list: readonly TreeFile[]): Promise<Buffer> =>
    gzipped(await formatLayer(dotted(list), release.date))
  return formatAr(
    [
      ['debian-binary', Buffer.from('2.0\n')],
      ['control.tar.gz', await archive(controlFiles(files, release))],
      ['data.tar.gz', await archive(files)],
    ],
    release.date,
  )
}
