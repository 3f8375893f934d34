// startFakeRuntime: a CRI runtime that is a real gRPC server on a real unix socket and says what its scripts
// tell it, right or wrong. For tests of everything that talks to a runtime.
import { mkdtemp, rm } from 'node:fs/promises'
import type { ServerHttp2Stream } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ImageServiceDefinition, type MessageFns, RuntimeServiceDefinition } from '../../cri-api/api.js'
import { complete } from '../../cri-api/complete.js'
import type { Answer, AnswerOf, MethodName, RequestTo, Said, Scripts } from './answers.js'
import { play, type Stage } from './play.js'
import { createSocketServer } from './socket-server.js'

interface FakeRuntimeOptions {
  /** Default: `cri.sock` in a temporary directory, removed by close(). */
  readonly socketPath?: string
  /** Permissions of the socket, default 0o600. */
  readonly mode?: number
  /** What a method without a script says. Default: UNIMPLEMENTED. */
  readonly otherwise?: Said<unknown>
}

interface LoggedCall<N extends MethodName = MethodName> {
  readonly method: N
  readonly request: RequestTo<N>
  readonly atMs: number
  /** What the caller sent as its deadline, as `2S`. */
  readonly grpcTimeout: string | undefined
  readonly authority: string
  /** The caller went away before the answer was complete. */
  cancelled: boolean
}

export interface FakeRuntime {
  readonly socketPath: string
  readonly endpoint: string
  /** Every call, in order of arrival. */
  readonly calls: readonly LoggedCall[]
  callsOf<N extends MethodName>(method: N): LoggedCall<N>[]
  clearCalls(): void
  /** Replaces the script of one method, from its first answer on. */
  script<N extends MethodName>(method: N, answers: AnswerOf<N> | readonly AnswerOf<N>[]): void
  readonly connections: number
  /** Ends all connections; the socket goes on listening. */
  cutAll(): void
  stop(): Promise<void>
  start(): Promise<void>
  restart(): Promise<void>
  close(): Promise<void>
}

interface Known {
  readonly method: MethodName
  readonly requestType: MessageFns<unknown>
  readonly responseType: MessageFns<unknown>
}

const known = new Map<string, Known>(
  [RuntimeServiceDefinition, ImageServiceDefinition].flatMap((service) =>
    Object.values(service.methods).map((m): [string, Known] => [
      `/${service.fullName}/${m.name}`,
      {
        method: m.name,
        requestType: m.requestType as unknown as MessageFns<unknown>,
        responseType: m.responseType as unknown as MessageFns<unknown>,
      },
    ]),
  ),
)

interface Script {
  readonly answers: readonly Answer<unknown, unknown>[]
  next: number
}

const toScript = (answers: unknown): Script => ({
  answers: (Array.isArray(answers) ? answers : [answers]) as Answer<unknown, unknown>[],
  next: 0,
})

async function readBody(stream: ServerHttp2Stream): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of stream) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

export async function startFakeRuntime(
  scripts: Scripts = {},
  options: FakeRuntimeOptions = {},
): Promise<FakeRuntime> {
  const directory =
    options.socketPath === undefined ? await mkdtemp(join(tmpdir(), 'keelson-cri-')) : undefined
  const socketPath = options.socketPath ?? join(directory ?? '', 'cri.sock')
  const playing = new Map<string, Script>(Object.entries(scripts).map(([m, a]) => [m, toScript(a)]))
  const calls: LoggedCall[] = []

  function choose(method: MethodName): { answer: Answer<unknown, unknown>; nth: number } {
    const script = playing.get(method)
    const otherwise = options.otherwise ?? unknownMethod(method)
    if (script === undefined) return { answer: otherwise, nth: 0 }
    const nth = script.next++
    return { answer: script.answers[Math.min(nth, script.answers.length - 1)] ?? otherwise, nth }
  }

  async function serve(
    stage: Stage,
    path: string,
    headers: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const body = await readBody(stage.stream)
    const method = known.get(path)
    if (method === undefined) return await play(stage, unknownMethod(path))
    const request = method.requestType.decode(body.subarray(5)) as RequestTo<MethodName>
    const call: LoggedCall = {
      method: method.method,
      request,
      atMs: performance.now(),
      grpcTimeout: headers['grpc-timeout'] as string | undefined,
      authority: String(headers[':authority']),
      cancelled: false,
    }
    calls.push(call)
    stage.stream.once('aborted', () => {
      call.cancelled = true
    })
    const { answer, nth } = choose(method.method)
    const said = typeof answer === 'function' ? await answer(request, { nth, signal: stage.signal }) : answer
    await play(stage, said)
  }

  const server = createSocketServer(socketPath, options.mode ?? 0o600, (stream, headers) => {
    const gone = new AbortController()
    stream.once('close', () => gone.abort())
    stream.on('error', () => {})
    const path = String(headers[':path'])
    const type = known.get(path)?.responseType
    const stage: Stage = {
      stream,
      signal: gone.signal,
      encode: (value) =>
        type === undefined ? new Uint8Array() : type.encode(complete(type, value)).finish(),
      cut: () => server.cut(stream),
    }
    serve(stage, path, headers).catch((e: unknown) => {
      if (stream.destroyed || stream.headersSent) return
      play(stage, { code: 'INTERNAL', message: `fake runtime: ${String(e)}` }).catch(() => {})
    })
  })
  await server.start()

  return {
    socketPath,
    endpoint: `unix://${socketPath}`,
    calls,
    callsOf: <N extends MethodName>(method: N) =>
      calls.filter((c): c is LoggedCall<N> & LoggedCall => c.method === method),
    clearCalls: () => {
      calls.length = 0
    },
    script: (method, answers) => {
      playing.set(method, toScript(answers))
    },
    get connections() {
      return server.connections
    },
    cutAll: server.cutAll,
    stop: server.stop,
    start: server.start,
    async restart() {
      await server.stop()
      await server.start()
    },
    async close() {
      await server.stop()
      if (directory !== undefined) await rm(directory, { recursive: true, force: true })
    },
  }
}

const unknownMethod = (method: string): Said<unknown> => ({
  code: 'UNIMPLEMENTED',
  message: `unknown method ${method} of CRI v1`,
})
