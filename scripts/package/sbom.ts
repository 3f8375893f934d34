// The bill of materials of a package, as CycloneDX 1.5 JSON: which npm packages are in the bundle (the bundler tells), at the
// versions and digests of package-lock.json, and what a package adds: Node, system libraries. Pure: same input, same text.
import { createHash } from 'node:crypto'

export interface LockedPackage {
  readonly version?: string
  readonly integrity?: string
  readonly license?: string
}

export interface Lockfile {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

export interface Component {
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly license?: string
  readonly url?: string
  /** As npm writes it: `sha512-BASE64`. */
  readonly integrity?: string
}

/** `node_modules/a/node_modules/@b/c/index.js` -> `node_modules/a/node_modules/@b/c` */
const packageOf = (input: string): string | undefined =>
  /^((?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1]

/** The lock file leaves addresses out, so that each machine uses its own registry. */
const registryUrl = (name: string, version: string): string =>
  `https://registry.npmjs.org/${name}/-/${name.slice(name.lastIndexOf('/') + 1)}-${version}.tgz`

/** `inputs`: the files that the bundler put in. */
export function bundledComponents(inputs: readonly string[], lock: Lockfile): Component[] {
  const keys = [...new Set(inputs.flatMap((input) => packageOf(input) ?? []))].sort()
  return keys.map((key) => {
    const locked = lock.packages[key]
    if (locked?.version === undefined) throw new Error(`${key} is in the bundle and not in package-lock.json`)
    const name = key.slice(key.lastIndexOf('node_modules/') + 'node_modules/'.length)
    return {
      name,
      version: locked.version,
      purl: `pkg:npm/${name.replace('@', '%40')}@${locked.version}`,
      ...(locked.license === undefined ? {} : { license: locked.license }),
      url: registryUrl(name, locked.version),
      ...(locked.integrity === undefined ? {} : { integrity: locked.integrity }),
    }
  })
}

const licenses = (license: string): object[] => [
  /^[\w.+-]+$/.test(license) ? { license: { id: license } } : { expression: license },
]

function componentJson({ name, version, purl, license, url, integrity }: Component): object {
  const [algorithm, digest] = integrity?.split('-') ?? []
  const hashes =
    algorithm === 'sha512' && digest !== undefined
      ? { hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }] }
      : {}
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    ...(license === undefined ? {} : { licenses: licenses(license) }),
    ...(url === undefined ? {} : { externalReferences: [{ type: 'distribution', url, ...hashes }] }),
  }
}

/** A name from content: another content, another number. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-')
}

export interface SbomInput {
  readonly version: string
  readonly license: string
  readonly date: Date
  /** The package's file, and its SHA-256. */
  readonly file: string
  readonly sha256: string
  readonly components: readonly Component[]
}

export function formatSbom({ version, license, date, file, sha256, components }: SbomInput): string {
  const purl = `pkg:npm/keelson@${version}`
  const unique = [...new Map(components.map((c) => [c.purl, c])).values()].sort((a, b) =>
    a.purl < b.purl ? -1 : 1,
  )
  const body = {
    metadata: {
      timestamp: date.toISOString(),
      component: {
        type: 'application',
        'bom-ref': purl,
        name: 'keelson',
        version,
        purl,
        licenses: licenses(license),
        hashes: [{ alg: 'SHA-256', content: sha256 }],
        properties: [{ name: 'keelson:file', value: file }],
      },
    },
    components: unique.map(componentJson),
    dependencies: [{ ref: purl, dependsOn: unique.map((c) => c.purl) }],
  }
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify(body))}`
  return `${JSON.stringify({ bomFormat: 'CycloneDX', specVersion: '1.5', serialNumber, version: 1, ...body }, undefined, 2)}\n`
}
