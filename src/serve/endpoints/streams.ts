// /exec, /attach and /portForward: a connection that leaves HTTP and is joined with the runtime's streaming server. What is spoken on
// it (SPDY or WebSocket) is between the client and the runtime.
import { keelsonError } from '../../core/errors.js'
import type { HttpAnswer, HttpRequest, RelayUpgrade, StreamTarget } from '../../ports/http.js'
import type { Endpoint, EndpointContext } from '../endpoint.js'

interface InPod {
  readonly namespace: string
  readonly pod: string
  /** Undefined: whatever pod has this name. */
  readonly uid: string | undefined
}

interface InContainer extends InPod {
  readonly container: string
  readonly stdin: boolean
  readonly stdout: boolean
  readonly stderr: boolean
  readonly tty: boolean
}

export type StreamRequest =
  | (InContainer & { readonly kind: 'exec'; readonly command: readonly string[] })
  | (InContainer & { readonly kind: 'attach' })
  /** `ports` are for WebSocket clients alone: SPDY names one with each stream. */
  | (InPod & { readonly kind: 'portForward'; readonly ports: readonly number[] })

/** Asks the runtime to prepare a stream. */
export type OpenStream = (request: StreamRequest, signal: AbortSignal) => Promise<StreamTarget>

interface StreamsOptions {
  readonly open: OpenStream
  readonly relay: RelayUpgrade
  /** streamingConnectionIdleTimeout. */
  readonly idleMs: number
}

/** As upstream: a stream that is not set up within this time is given up. */
const creationMs = 30_000
const maxPorts = 64

export const streams = (o: StreamsOptions): readonly Endpoint[] => [
  stream('exec', '/exec/{namespace}/{pod}/{container}', readExec, o),
  stream('exec/uid', '/exec/{namespace}/{pod}/{uid}/{container}', readExec, o),
  stream('attach', '/attach/{namespace}/{pod}/{container}', readAttach, o),
  stream('attach/uid', '/attach/{namespace}/{pod}/{uid}/{container}', readAttach, o),
  stream('portForward', '/portForward/{namespace}/{pod}', readPortForward, o),
  stream('portForward/uid', '/portForward/{namespace}/{pod}/{uid}', readPortForward, o),
]

type ReadRequest = (context: EndpointContext, request: HttpRequest) => StreamRequest

const stream = (name: string, path: string, read: ReadRequest, o: StreamsOptions): Endpoint => ({
  name,
  path,
  methods: ['GET', 'POST'],
  longRunning: true,
  // The end of a stream is decided by its idle time alone.
  timeoutMs: 0,
  async handle(request, context): Promise<HttpAnswer> {
    const wanted = read(context, request)
    if (!request.upgrade)
      throw keelsonError('request.invalid', 'Upgrade request required: use SPDY/3.1 or WebSocket')
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(creationMs)])
    return o.relay(request, await o.open(wanted, signal), { timeoutMs: creationMs, idleMs: o.idleMs })
  },
})

const isSet = (query: URLSearchParams, key: string): boolean => ['1', 'true'].includes(query.get(key) ?? '')

const inPod = ({ params }: EndpointContext): InPod => ({
  namespace: params['namespace'] ?? '',
  pod: params['pod'] ?? '',
  uid: params['uid'],
})

function inContainer(context: EndpointContext): InContainer {
  const { query, params } = context
  const tty = isSet(query, 'tty')
  const [stdin, stdout] = [isSet(query, 'input'), isSet(query, 'output')]
  // A terminal has one output.
  const stderr = isSet(query, 'error') && !tty
  if (!stdin && !stdout && !stderr)
    throw keelsonError('request.invalid', 'you must specify at least 1 of stdin, stdout, stderr')
  return { ...inPod(context), container: params['container'] ?? '', stdin, stdout, stderr, tty }
}

const readExec: ReadRequest = (context) => ({
  kind: 'exec',
  ...inContainer(context),
  command: context.query.getAll('command'),
})

const readAttach: ReadRequest = (context) => ({ kind: 'attach', ...inContainer(context) })

const readPortForward: ReadRequest = (context, { headers }) => {
  const isWebSocket = (headers.get('upgrade') ?? []).some((value) => value.toLowerCase() === 'websocket')
  return { kind: 'portForward', ...inPod(context), ports: isWebSocket ? readPorts(context.query) : [] }
}

function readPorts(query: URLSearchParams): readonly number[] {
  const ports = query.getAll('port').flatMap((text) => text.split(','))
  if (ports.length === 0) throw keelsonError('request.invalid', 'query parameter "port" is required')
  if (ports.length > maxPorts) throw keelsonError('request.invalid', `more than ${maxPorts} ports`)
  return ports.map((text) => {
    const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
    if (port < 1 || port > 65_535)
      throw keelsonError('request.invalid', `port ${JSON.stringify(text.slice(0, 20))} must be 1 to 65535`)
    return port
  })
}
