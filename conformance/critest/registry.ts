// A registry on loopback: the reading half of the OCI distribution protocol, over plain HTTP, from memory. It answers for
// every host name, because containerd is told to ask it for all of them.
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { formatLayer } from '../../src/lab/images/archive.js'
import type { TestImage } from './image-list.js'

interface Content {
  readonly type: string
  readonly data: Buffer
}

/** By path: `manifests/REPOSITORY/TAG`, `manifests/REPOSITORY/DIGEST`, `blobs/DIGEST`. */
export type RegistryContent = ReadonlyMap<string, Content>

const types = {
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
} as const

const digestOf = (data: Uint8Array): string => `sha256:${createHash('sha256').update(data).digest('hex')}`

export async function packImages(images: readonly TestImage[]): Promise<RegistryContent> {
  const content = new Map<string, Content>()
  const keep = (type: string, data: Buffer) => {
    const digest = digestOf(data)
    content.set(`blobs/${digest}`, { type: 'application/octet-stream', data })
    return { mediaType: type, digest, size: data.length }
  }
  for (const image of images) {
    const layer = keep(types.layer, await formatLayer(image.files))
    const config = keep(types.config, Buffer.from(formatConfig(image, layer.digest)))
    const manifest = Buffer.from(
      JSON.stringify({ schemaVersion: 2, mediaType: types.manifest, config, layers: [layer] }),
    )
    for (const name of [...image.tags, digestOf(manifest)])
      content.set(`manifests/${image.repository}/${name}`, { type: types.manifest, data: manifest })
  }
  return content
}

const formatConfig = (image: TestImage, diffId: string): string =>
  JSON.stringify({
    architecture: 'amd64',
    os: 'linux',
    created: new Date(0).toISOString(),
    config: {
      Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
      ...(image.entrypoint === undefined ? {} : { Entrypoint: image.entrypoint }),
      ...(image.command === undefined ? {} : { Cmd: image.command }),
      ...(image.user === undefined ? {} : { User: image.user }),
      WorkingDir: '/',
    },
    rootfs: { type: 'layers', diff_ids: [diffId] },
  })

/** The key of a request's path in the content; undefined when it is no path of the protocol. */
export function contentKey(path: string): string | undefined {
  const match = /^\/v2\/(?<repository>[\w./-]+)\/(?<kind>manifests|blobs)\/(?<name>[\w.:-]+)$/.exec(
    path,
  )?.groups
  if (match === undefined) return undefined
  return match.kind === 'blobs' ? `blobs/${match.name}` : `manifests/${match.repository}/${match.name}`
}

export interface Registry {
  readonly url: string
  close(): Promise<void>
}

export async function startRegistry(content: RegistryContent): Promise<Registry> {
  const answer = (req: IncomingMessage, res: ServerResponse): void => {
    const { pathname } = new URL(req.url ?? '/', 'http://registry')
    if (pathname === '/v2/') return void res.writeHead(200).end()
    const key = contentKey(pathname)
    const found = key === undefined ? undefined : content.get(key)
    if (found === undefined || (req.method !== 'GET' && req.method !== 'HEAD'))
      return void res
        .writeHead(404, { 'content-type': 'application/json' })
        .end('{"errors":[{"code":"NOT_FOUND"}]}')
    res.writeHead(200, {
      'content-type': found.type,
      'content-length': found.data.length,
      'docker-content-digest': digestOf(found.data),
    })
    res.end(req.method === 'HEAD' ? undefined : found.data)
  }
  const server = createServer(answer)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the registry has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

/** hosts.toml of containerd: this registry stands for all of them, and nothing is asked of the network. */
export const formatHosts = (url: string): string => `server = "${url}"

[host."${url}"]
  capabilities = ["pull", "resolve"]
`
