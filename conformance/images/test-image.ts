// An image for a suite, under the name that the suite asks for, and its form in the OCI image format.
import { createHash } from 'node:crypto'
import { formatLayer, type ImageFile } from '../../src/lab/images/archive.js'

export interface TestImage {
  /** The name without the registry's host; one manifest can have several tags. */
  readonly repository: string
  readonly tags: readonly string[]
  /** From the bottom up. The same array in two images is one layer. */
  readonly layers: readonly (readonly ImageFile[])[]
  readonly entrypoint?: readonly string[]
  readonly command?: readonly string[]
  readonly user?: string
  readonly stopSignal?: string
}

export const mediaTypes = {
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
} as const

export const digestOf = (data: Uint8Array): string =>
  `sha256:${createHash('sha256').update(data).digest('hex')}`

export interface PackedImage {
  readonly image: TestImage
  readonly manifest: Buffer
  /** Config and layers. */
  readonly blobs: readonly Buffer[]
}

/** Packs images; layers that they share are packed once. Same input, same bytes. */
export function createPacker(): (image: TestImage) => Promise<PackedImage> {
  const packed = new Map<readonly ImageFile[], Promise<Buffer>>()
  return async (image) => {
    const layers = await Promise.all(
      image.layers.map((files) => {
        const layer = packed.get(files) ?? formatLayer(onePerPath(files))
        packed.set(files, layer)
        return layer
      }),
    )
    const config = Buffer.from(formatConfig(image, layers.map(digestOf)))
    const describe = (mediaType: string, data: Buffer) => ({
      mediaType,
      digest: digestOf(data),
      size: data.length,
    })
    const manifest = {
      schemaVersion: 2,
      mediaType: mediaTypes.manifest,
      config: describe(mediaTypes.config, config),
      layers: layers.map((l) => describe(mediaTypes.layer, l)),
    }
    return { image, manifest: Buffer.from(JSON.stringify(manifest)), blobs: [config, ...layers] }
  }
}

/** Two programs bring the same library; a tar with a path twice is legal but confuses readers. The last one counts. */
const onePerPath = (files: readonly ImageFile[]): ImageFile[] => [
  ...new Map(files.map((f) => [f.path, f])).values(),
]

const formatConfig = (image: TestImage, diffIds: readonly string[]): string =>
  JSON.stringify({
    architecture: 'amd64',
    os: 'linux',
    created: new Date(0).toISOString(),
    config: {
      Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
      ...(image.entrypoint === undefined ? {} : { Entrypoint: image.entrypoint }),
      ...(image.command === undefined ? {} : { Cmd: image.command }),
      ...(image.user === undefined ? {} : { User: image.user }),
      ...(image.stopSignal === undefined ? {} : { StopSignal: image.stopSignal }),
      WorkingDir: '/',
    },
    rootfs: { type: 'layers', diff_ids: diffIds },
  })
