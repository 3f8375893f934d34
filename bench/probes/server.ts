// The server that every probe of the benchmark asks: it notes when each request arrives, so that both kubelets are measured by
// the same clock and none of them is asked. A probe is known by its path, or by the service of gRPC's health check.
import { createServer } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { promisify } from 'node:util'

export const kinds = ['http', 'grpc', 'exec'] as const
export type Kind = (typeof kinds)[number]

export interface ProbeServer {
  /** Since the last call of forget(), in milliseconds of performance.now(); keys are `KIND/POD`. */
  readonly arrivals: ReadonlyMap<string, readonly number[]>
  forget(): void
  close(): void
}

/** HealthCheckResponse with SERVING, behind gRPC's prefix. */
const serving = Buffer.of(0, 0, 0, 0, 2, 8, 1)
/** In the request: prefix, tag and length of the service's name. */
const serviceOffset = 7

/** On every address: a standalone upstream kubelet knows none of a pod in the host's network, and dials this machine. */
const host = '0.0.0.0'

export async function startProbeServer({
  http,
  grpc,
}: {
  readonly http: number
  readonly grpc: number
}): Promise<ProbeServer> {
  const arrivals = new Map<string, number[]>()
  const note = (key: string): void => {
    const times = arrivals.get(key)
    if (times === undefined) arrivals.set(key, [performance.now()])
    else times.push(performance.now())
  }
  const plain = createServer((request, response) => {
    note((request.url ?? '/').slice(1))
    response.end('ok')
  })
  const health = createHttp2Server()
  health.on('stream', (stream) => {
    const parts: Buffer[] = []
    stream.on('error', () => undefined)
    stream.on('data', (part: Buffer) => parts.push(part))
    stream.on('end', () => {
      note(`grpc/${Buffer.concat(parts).subarray(serviceOffset).toString()}`)
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
      stream.end(serving)
    })
  })
  health.on('sessionError', () => undefined)
  await promisify((done: () => void) => plain.listen({ host, port: http, backlog: 1024 }, done))()
  await promisify((done: () => void) => health.listen({ host, port: grpc, backlog: 1024 }, done))()
  return {
    arrivals,
    forget: () => arrivals.clear(),
    close() {
      plain.close()
      plain.closeAllConnections()
      health.close()
    },
  }
}

/** How much later than its period each request came after the one before it; never less than 0. */
export function latenessOf(arrivals: readonly number[], periodMs: number): number[] {
  return arrivals.slice(1).map((at, i) => Math.max(0, at - (arrivals[i] ?? at) - periodMs))
}
