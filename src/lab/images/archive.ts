// Writes images as one docker-archive tar, which `ctr image import` and `docker load` read. Same input, same bytes.
import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
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
}

const epoch = new Date(0)

export async function formatLayer(files: readonly ImageFile[]): Promise<Buffer> {
  const tar = pack()
  for (const file of files) {
    const base = { name: file.path, uid: 0, gid: 0, mtime: epoch }
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

const sha256 = (data: Uint8Array | string): string => createHash('sha256').update(data).digest('hex')

export async function writeImageArchive(path: string, images: readonly ImageSpec[]): Promise<void> {
  const entries = new Map<string, Buffer>()
  const manifest: object[] = []
  for (const image of images) {
    const layer = await formatLayer(image.files)
    const diff = sha256(layer)
    const config = JSON.stringify({
      architecture: 'amd64',
      os: 'linux',
      created: epoch.toISOString(),
      config: {
        Env: ['PATH=/usr/local/bin:/usr/bin:/bin'],
        Entrypoint: image.entrypoint,
        ...(image.command === undefined ? {} : { Cmd: image.command }),
        WorkingDir: '/',
      },
      rootfs: { type: 'layers', diff_ids: [`sha256:${diff}`] },
    })
    entries.set(`${diff}.tar`, layer)
    entries.set(`${sha256(config)}.json`, Buffer.from(config))
    manifest.push({
      Config: `${sha256(config)}.json`,
      RepoTags: [image.reference],
      Layers: [`${diff}.tar`],
    })
  }
  const tar = pack()
  const written = pipeline(tar, createWriteStream(path))
  const all = [...entries, ['manifest.json', Buffer.from(JSON.stringify(manifest))] as const]
  for (const [name, data] of all) tar.entry({ name, mtime: epoch, mode: 0o644 }, data)
  tar.finalize()
  await written
}
