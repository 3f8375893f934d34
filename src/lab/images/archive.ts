// Writes images as one tar that is an OCI layout and a docker-archive at once, as `docker save` does: `ctr images import`,
// `kind load image-archive`, `podman load` and `docker load` read it. Same input, same bytes.
import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { pack } from 'tar-stream'

export type ImageFile =
  | { readonly path: string; readonly data: Uint8Array; readonly mode: number }
  | { readonly path: string; readonly link: string }
  | { readonly path: string; readonly mode: number; readonly owner?: number }

export interface ImageSpec {
  readonly reference: string
  readonly files: readonly ImageFile[]
  readonly entrypoint: readonly string[]
  readonly command?: readonly string[]
  readonly labels?: Readonly<Record<string, string>>
  /** A compressed layer is smaller to carry and slower to import. */
  readonly compress?: boolean
}

const epoch = new Date(0)

export async function formatLayer(files: readonly ImageFile[], mtime = epoch): Promise<Buffer> {
  const tar = pack()
  for (const file of files) {
    const base = { name: file.path, uid: 0, gid: 0, uname: 'root', gname: 'root', mtime }
    if ('link' in file) tar.entry({ ...base, type: 'symlink', linkname: file.link })
    else if ('data' in file) tar.entry({ ...base, mode: file.mode }, Buffer.from(file.data))
    else
      tar.entry({ ...base, type: 'directory', mode: file.mode, uid: file.owner ?? 0, gid: file.owner ?? 0 })
  }
  tar.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of tar) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

interface Blob {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

const sha256 = (data: Uint8Array | string): string => createHash('sha256').update(data).digest('hex')
const blobPath = ({ digest }: Blob): string => `blobs/${digest.replace(':', '/')}`
const oci = (kind: string): string => `application/vnd.oci.image.${kind}`
const platform = { architecture: 'amd64', os: 'linux' }

const configOf = (image: ImageSpec, layer: Buffer, created: Date): string =>
  JSON.stringify({
    ...platform,
    created: created.toISOString(),
    config: {
      Env: ['PATH=/usr/local/bin:/usr/bin:/bin'],
      Entrypoint: image.entrypoint,
      ...(image.command === undefined ? {} : { Cmd: image.command }),
      WorkingDir: '/',
      ...(image.labels === undefined ? {} : { Labels: image.labels }),
    },
    rootfs: { type: 'layers', diff_ids: [`sha256:${sha256(layer)}`] },
    history: [{ created: created.toISOString(), created_by: 'keelson' }],
  })

export async function writeImageArchive(
  path: string,
  images: readonly ImageSpec[],
  created = epoch,
): Promise<void> {
  const entries = new Map<string, Buffer>()
  const add = (mediaType: string, data: Buffer): Blob => {
    const blob = { mediaType, digest: `sha256:${sha256(data)}`, size: data.length }
    entries.set(blobPath(blob), data)
    return blob
  }
  const manifests: object[] = []
  const dockerManifests: object[] = []
  for (const image of images) {
    const tar = await formatLayer(image.files, created)
    const layer = image.compress
      ? add(oci('layer.v1.tar+gzip'), await promisify(gzip)(tar))
      : add(oci('layer.v1.tar'), tar)
    const config = add(oci('config.v1+json'), Buffer.from(configOf(image, tar, created)))
    const mediaType = oci('manifest.v1+json')
    const text = JSON.stringify({ schemaVersion: 2, mediaType, config, layers: [layer] })
    manifests.push({
      ...add(mediaType, Buffer.from(text)),
      platform,
      annotations: {
        'io.containerd.image.name': image.reference,
        'org.opencontainers.image.ref.name': image.reference.slice(image.reference.lastIndexOf(':') + 1),
      },
    })
    dockerManifests.push({
      Config: blobPath(config),
      RepoTags: [image.reference],
      Layers: [blobPath(layer)],
    })
  }
  const json = (value: object): Buffer => Buffer.from(JSON.stringify(value))
  entries.set('oci-layout', json({ imageLayoutVersion: '1.0.0' }))
  entries.set('index.json', json({ schemaVersion: 2, mediaType: oci('index.v1+json'), manifests }))
  entries.set('manifest.json', json(dockerManifests))
  const tar = pack()
  const written = pipeline(tar, createWriteStream(path))
  for (const [name, data] of entries) tar.entry({ name, mtime: created, mode: 0o644 }, data)
  tar.finalize()
  await written
}
