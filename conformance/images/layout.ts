// An OCI image layout on disk: what `ctr images import` reads as a tar, and what the registry serves from its files.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RegistryContent } from './registry.js'
import { createPacker, digestOf, mediaTypes, type TestImage } from './test-image.js'

interface IndexEntry {
  readonly digest: string
  readonly size: number
  readonly annotations: { readonly 'io.containerd.image.name': string }
}

const blobPath = (dir: string, digest: string): string => join(dir, 'blobs', digest.replace(':', '/'))

/** Hosts of the images' names: the suites ask for them there, whoever answers. */
const hostOf = (repository: string): string =>
  repository.startsWith('k8s-authenticated-test/') ? 'gcr.io' : 'registry.k8s.io'

export async function writeLayout(dir: string, images: readonly TestImage[]): Promise<void> {
  await mkdir(join(dir, 'blobs/sha256'), { recursive: true })
  const pack = createPacker()
  const manifests: object[] = []
  for (const image of images) {
    const { manifest, blobs } = await pack(image)
    for (const data of [manifest, ...blobs]) await writeFile(blobPath(dir, digestOf(data)), data)
    for (const tag of image.tags)
      manifests.push({
        mediaType: mediaTypes.manifest,
        digest: digestOf(manifest),
        size: manifest.length,
        platform: { architecture: 'amd64', os: 'linux' },
        annotations: {
          'io.containerd.image.name': `${hostOf(image.repository)}/${image.repository}:${tag}`,
          'org.opencontainers.image.ref.name': tag,
        },
      })
  }
  await writeFile(join(dir, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests }))
  await writeFile(join(dir, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }))
}

export async function readLayout(dir: string): Promise<RegistryContent> {
  const index = JSON.parse(await readFile(join(dir, 'index.json'), 'utf8')) as {
    readonly manifests: readonly IndexEntry[]
  }
  const content = new Map<string, { type: string; digest: string; size: number; from: string }>()
  for (const { digest, size, annotations } of index.manifests) {
    const name = annotations['io.containerd.image.name']
    const [repository = '', tag = ''] = splitReference(name.slice(name.indexOf('/') + 1))
    const from = blobPath(dir, digest)
    for (const key of [tag, digest])
      content.set(`manifests/${repository}/${key}`, { type: mediaTypes.manifest, digest, size, from })
    const manifest = JSON.parse(await readFile(from, 'utf8')) as {
      readonly config: { readonly digest: string; readonly size: number }
      readonly layers: readonly { readonly digest: string; readonly size: number }[]
    }
    for (const blob of [manifest.config, ...manifest.layers])
      content.set(`blobs/${blob.digest}`, {
        type: 'application/octet-stream',
        digest: blob.digest,
        size: blob.size,
        from: blobPath(dir, blob.digest),
      })
  }
  return content
}

const splitReference = (name: string): string[] => [
  name.slice(0, name.lastIndexOf(':')),
  name.slice(name.lastIndexOf(':') + 1),
]
