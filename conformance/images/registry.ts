// A registry on loopback: the reading half of the OCI distribution protocol, over plain HTTP. It answers for every host
// name, because the runtime is told to ask it for all of them; what it does not have is a clean 404.
import { timingSafeEqual } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createPacker, digestOf, mediaTypes, type TestImage } from './test-image.js'

interface Content {
  readonly type: string
  readonly digest: string
  readonly size: number
  /** In memory, or a file of an image layout. */
  readonly from: Buffer | string
}

/** By path: `manifests/REPOSITORY/TAG`, `manifests/REPOSITORY/DIGEST`, `blobs/DIGEST`. */
export type RegistryContent = ReadonlyMap<string, Content>

export async function packImages(images: readonly TestImage[]): Promise<RegistryContent> {
  const content = new Map<string, Content>()
  const pack = createPacker()
  for (const image of images) {
    const { manifest, blobs } = await pack(image)
    for (const data of blobs) {
      const digest = digestOf(data)
      const type = 'application/octet-stream'
      content.set(`blobs/${digest}`, { type, digest, size: data.length, from: data })
    }
    const digest = digestOf(manifest)
    for (const name of [...image.tags, digest])
      content.set(`manifests/${image.repository}/${name}`, {
        type: mediaTypes.manifest,
        digest,
        size: manifest.length,
        from: manifest,
      })
  }
  return content
}

interface RequestPath {
  readonly repository: string
  readonly key: string
}

/** Repository and key in the content of a request's path; undefined when it is no path of the protocol. */
export function parsePath(path: string): RequestPath | undefined {
  const match = /^\/v2\/(?<repository>[\w./-]+)\/(?<kind>manifests|blobs)\/(?<name>[\w.:-]+)$/.exec(
    path,
  )?.groups
  if (match === undefined) return undefined
  const { repository = '', kind, name } = match
  return { repository, key: kind === 'blobs' ? `blobs/${name}` : `manifests/${repository}/${name}` }
}

/** A repository that wants basic authentication. */
export interface ProtectedRepository {
  readonly repository: string
  readonly user: string
  readonly password: string
}

export interface RegistryOptions {
  /** 0: any free one. */
  readonly port?: number
  readonly protectedRepositories?: readonly ProtectedRepository[]
}

export interface Registry {
  readonly url: string
  close(): Promise<void>
}

function mayRead(req: IncomingMessage, repository: ProtectedRepository): boolean {
  const wanted = Buffer.from(`${repository.user}:${repository.password}`)
  const given = Buffer.from(/^Basic (\S+)$/i.exec(req.headers.authorization ?? '')?.[1] ?? '', 'base64')
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

export async function startRegistry(
  content: RegistryContent,
  { port = 0, protectedRepositories = [] }: RegistryOptions = {},
): Promise<Registry> {
  const refuse = (res: ServerResponse, status: number, code: string, headers = {}): void => {
    res.writeHead(status, { 'content-type': 'application/json', ...headers })
    res.end(JSON.stringify({ errors: [{ code }] }))
  }
  const answer = (req: IncomingMessage, res: ServerResponse): void => {
    const { pathname } = new URL(req.url ?? '/', 'http://registry')
    if (pathname === '/v2/') {
      res.writeHead(200).end()
      return
    }
    const path = parsePath(pathname)
    const guarded = protectedRepositories.find((p) => p.repository === path?.repository)
    if (guarded !== undefined && !mayRead(req, guarded)) {
      refuse(res, 401, 'UNAUTHORIZED', { 'www-authenticate': 'Basic realm="keelson"' })
      return
    }
    const found = path === undefined ? undefined : content.get(path.key)
    if (found === undefined || (req.method !== 'GET' && req.method !== 'HEAD')) {
      refuse(res, 404, 'NOT_FOUND')
      return
    }
    res.writeHead(200, {
      'content-type': found.type,
      'content-length': found.size,
      'docker-content-digest': found.digest,
    })
    if (req.method === 'HEAD') res.end()
    else if (typeof found.from !== 'string') res.end(found.from)
    else
      createReadStream(found.from)
        .on('error', () => res.destroy())
        .pipe(res)
  }
  const server = createServer(answer)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve)
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
