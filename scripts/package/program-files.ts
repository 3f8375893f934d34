// The files of the program as they lie below its directory in every package: the bundle, the pages and examples that it links
// to, and a package.json that names no dependency, because the bundle loads none.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ImageFile } from '../../src/lab/images/archive.js'
import { type Manifest, readManifest, root } from './release.js'

/** A file or a directory of a package; paths have no leading slash. */
export type TreeFile = ImageFile

const executables = new Set(['dist/cli/main.js'])

function filesBelow(directory: string, at: string): TreeFile[] {
  return readdirSync(directory, { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry): TreeFile[] => {
      const path = `${at}/${entry.name}`
      if (entry.isDirectory()) return filesBelow(join(directory, entry.name), path)
      return [fileAt(join(directory, entry.name), path)]
    })
}

const fileAt = (from: string, path: string): TreeFile => ({
  path,
  data: readFileSync(from),
  mode: executables.has(path) ? 0o755 : 0o644,
})

const published = [
  'name',
  'version',
  'description',
  'license',
  'keywords',
  'type',
  'engines',
  'bin',
  'exports',
]

/** No scripts: `prepare` would run at the user's. No dependencies: all of them are in the bundle. */
export const publishedManifest = (manifest: Manifest): string =>
  `${JSON.stringify(Object.fromEntries(Object.entries(manifest).filter(([key]) => published.includes(key))), undefined, 2)}\n`

/** `dist`: where the program was built. */
export function programFiles(dist: string): TreeFile[] {
  const manifest = readManifest()
  const listed = manifest.files.flatMap((name): TreeFile[] => {
    if (name === 'dist') return filesBelow(dist, 'dist')
    const path = join(root, name)
    return statSync(path).isDirectory() ? filesBelow(path, name) : [fileAt(path, name)]
  })
  return [
    ...listed,
    { path: 'package.json', data: Buffer.from(publishedManifest(manifest)), mode: 0o644 },
  ].toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

export const moveBelow = (directory: string, files: readonly TreeFile[]): TreeFile[] =>
  files.map((file) => ({ ...file, path: `${directory}/${file.path}` }))

/** With every directory above a file, before it: what tar, dpkg and containers want. */
export function withDirectories(files: readonly TreeFile[]): TreeFile[] {
  const all = new Map<string, TreeFile>()
  for (const file of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const parts = file.path.split('/')
    for (let n = 1; n < parts.length; n++) {
      const path = parts.slice(0, n).join('/')
      if (!all.has(path)) all.set(path, { path, mode: 0o755 })
    }
    all.set(file.path, file)
  }
  return [...all.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1))
}
