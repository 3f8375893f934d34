import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { bundledComponents, formatSbom, type Lockfile } from '../../scripts/package/sbom.js'

const lock = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')) as Lockfile

const input = {
  version: '1.2.3',
  license: 'Apache-2.0',
  date: new Date(0),
  file: 'keelson-1.2.3.tgz',
  sha256: '00',
}

interface Bom {
  readonly serialNumber: string
  readonly components: readonly {
    readonly purl: string
    readonly version: string
    readonly externalReferences: readonly { readonly hashes: readonly { readonly content: string }[] }[]
  }[]
  readonly dependencies: readonly { readonly dependsOn: readonly string[] }[]
}

test('what the bundler put in is listed once, at the version and digest of the lock file', () => {
  const inputs = [
    'src/cli/main.ts',
    'node_modules/yaml/dist/index.js',
    'node_modules/yaml/dist/nodes/Node.js',
    'node_modules/@bufbuild/protobuf/dist/esm/index.js',
  ]
  const text = formatSbom({ ...input, components: bundledComponents(inputs, lock) })
  const bom = JSON.parse(text) as Bom
  const locked = lock.packages['node_modules/yaml']
  const yaml = bom.components.find((c) => c.purl.startsWith('pkg:npm/yaml@'))
  expect(bom.components.map((c) => c.purl.replace(/@[^@]*$/, ''))).toEqual([
    'pkg:npm/%40bufbuild/protobuf',
    'pkg:npm/yaml',
  ])
  expect(yaml?.version).toBe(locked?.version)
  const digest = Buffer.from(yaml?.externalReferences[0]?.hashes[0]?.content ?? '', 'hex').toString('base64')
  expect(`sha512-${digest}`).toBe(locked?.integrity)
  expect(bom.dependencies[0]?.dependsOn).toHaveLength(2)
})

test('a package of the bundle that the lock file does not know is an error', () => {
  expect(() => bundledComponents(['node_modules/stranger/index.js'], lock)).toThrow(/stranger/)
})

test('same input, same text; other content, another serial number', () => {
  const one = formatSbom({ ...input, components: [] })
  expect(formatSbom({ ...input, components: [] })).toBe(one)
  const other = JSON.parse(formatSbom({ ...input, sha256: '01', components: [] })) as Bom
  expect(other.serialNumber).not.toBe((JSON.parse(one) as Bom).serialNumber)
  expect(other.serialNumber).toMatch(
    /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
  )
})
