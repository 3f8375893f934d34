// Mutated requests and answers through the server: no crash, and what is forwarded arrives byte by byte, in both
// directions. FUZZ_RUNS=100000 gives the long form; FUZZ_SEED another beginning.
import assert from 'node:assert/strict'
import type { ClientHttp2Session } from 'node:http2'
import { afterAll, beforeAll, test } from 'vitest'
import { ListContainersResponse } from '../../src/cri-api/api.js'
import { complete } from '../../src/cri-api/complete.js'
import { manyContainers } from '../../src/fakes/cri/shapes.js'
import { createRandom, type Random } from '../fuzz/random.js'
import { knownRpcs } from './compare.js'
import { everyRpc } from './every-rpc.js'
import { frame, openSession, type RawAnswer, rawCall } from './raw-client.js'
import { type RawUpstream, startRawUpstream } from './scripted-upstream.js'
import { type ServerFixture, startServerFixture } from './server-fixture.js'

const runs = Number(process.env.FUZZ_RUNS ?? 10_000)
const seed = Number(process.env.FUZZ_SEED ?? 1)
const atOnce = 32

/** Methods whose answers we may add to or replace; all others must pass unchanged. */
const ours =
  /\/(Status|RuntimeConfig|UpdatePodSandboxResources|Stream\w+|GetContainerEvents|ContainerStats|ListContainerStats|PodSandboxStats|ListPodSandboxStats|ListMetricDescriptors|ListPodSandboxMetrics)$/

/** Streams that are answered from other calls: the runtime does not see this request. */
const answeredFromOthers = /\/Stream(ContainerStats|PodSandboxStats|PodSandboxMetrics)$/

interface Planned {
  readonly body: Buffer
  readonly trailers: Record<string, string>
  readonly headersOnly: boolean
  /** What the upstream saw. */
  seen?: Buffer
}

const planned = new Map<string, Planned>()
let upstream: RawUpstream | undefined
let fixture: ServerFixture | undefined

beforeAll(async () => {
  const paths = [...[...knownRpcs.values()].map((k) => k.path), '/future.v3.Any/Thing', '/x']
  const plays = Object.fromEntries(
    paths.map((path) => [
      path,
      (
        s: Parameters<Parameters<typeof startRawUpstream>[0][string]>[0],
        headers: Readonly<Record<string, unknown>>,
        body: Buffer,
      ) => {
        const plan = planned.get(String(headers['x-n']))
        if (plan === undefined) return s.respond({ ':status': 200, 'grpc-status': '12' }, { endStream: true })
        plan.seen ??= body
        const common = { ':status': 200, 'content-type': 'application/grpc' }
        if (plan.headersOnly) return s.respond({ ...common, ...plan.trailers }, { endStream: true })
        s.respond(common, { waitForTrailers: true })
        s.once('wantTrailers', () => s.sendTrailers(plan.trailers))
        s.end(plan.body)
      },
    ]),
  )
  upstream = await startRawUpstream(plays)
  fixture = await startServerFixture(upstream.endpoint)
})
afterAll(async () => {
  await fixture?.close()
  await upstream?.close()
})

function mutate(random: Random, bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  switch (random.below(6)) {
    case 0:
      return copy
    case 1:
      return copy.subarray(0, random.below(copy.length + 1))
    case 2:
      return Buffer.concat([
        copy,
        Buffer.from(Array.from({ length: random.below(40) }, () => random.below(256))),
      ])
    case 3: {
      const at = random.below(copy.length + 1)
      return Buffer.concat([copy.subarray(0, at), copy.subarray(Math.max(0, at - random.below(9)))])
    }
    default:
      for (let i = random.below(4); i >= 0 && copy.length > 0; i--)
        copy[random.below(copy.length)] = random.below(256)
      return copy
  }
}

const ids = { sandboxId: 'a'.repeat(64), containerId: 'c'.repeat(64), image: 'x:1' }
const answerSeed = Buffer.from(
  ListContainersResponse.encode(complete(ListContainersResponse, { containers: manyContainers(3) })).finish(),
)

function plan(random: Random): { path: string; request: Buffer; answer: Planned } {
  const row = everyRpc[random.below(everyRpc.length)]
  const known = knownRpcs.get(row?.rpc ?? '')
  const message =
    row === undefined || known === undefined
      ? Buffer.alloc(0)
      : Buffer.from(
          known.requestType.encode(complete(known.requestType, row.request(ids) as object)).finish(),
        )
  const strange = random.below(12) === 0
  const path = strange ? (random.below(2) === 0 ? '/future.v3.Any/Thing' : '/x') : (known?.path ?? '/x')
  const isFrameBroken = random.below(5) === 0
  const request = isFrameBroken ? mutate(random, frame(message)) : frame(mutate(random, message))
  const answerMessage = mutate(random, random.below(2) === 0 ? answerSeed : message)
  const body = random.below(5) === 0 ? mutate(random, frame(answerMessage)) : frame(answerMessage)
  const code = random.below(3) === 0 ? random.below(20) : 0
  return {
    path,
    request,
    answer: {
      body,
      headersOnly: code !== 0 && random.below(2) === 0,
      trailers: {
        'grpc-status': String(code),
        ...(random.below(3) === 0 ? { 'grpc-message': `odd %${random.below(256).toString(16)} text` } : {}),
        ...(random.below(4) === 0 ? { 'x-n-bin': Buffer.from([random.below(256)]).toString('base64') } : {}),
      },
    },
  }
}

function check(n: string, path: string, request: Buffer, wanted: Planned, got: RawAnswer): void {
  const label = `seed ${seed}, input ${n}, ${path}, request ${request.toString('hex').slice(0, 200)}`
  assert.ok(
    answeredFromOthers.test(path) || wanted.seen?.equals(request) === true,
    `${label}: the runtime saw ${wanted.seen?.toString('hex').slice(0, 200) ?? 'nothing'}`,
  )
  if (ours.test(path)) return
  assert.equal(got.rstCode, 0, label)
  const list = wanted.headersOnly ? got.headers : got.trailers
  for (const [key, value] of Object.entries(wanted.trailers))
    assert.equal(list[list.indexOf(key) + 1], value, label)
  assert.ok(
    got.body.equals(wanted.headersOnly ? Buffer.alloc(0) : wanted.body),
    `${label}: the answer changed`,
  )
}

test(`${runs} mutated requests and answers`, { timeout: 60_000 + runs * 10 }, async () => {
  const random = createRandom(seed)
  const session: ClientHttp2Session = await openSession(fixture?.socketPath ?? '')
  let next = 0
  const work = async (): Promise<void> => {
    while (next < runs) {
      const n = String(next++)
      const { path, request, answer } = plan(random)
      planned.set(n, answer)
      const got = await rawCall(session, path, request, { 'x-n': n, 'grpc-timeout': '20S' })
      check(n, path, request, answer, got)
      planned.delete(n)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  session.destroy()
  assert.deepEqual(fixture?.errors, [])
  const internal = fixture?.log.lines.filter((l) => l.message === 'internal error in a call') ?? []
  assert.deepEqual(internal.map((l) => String(l.fields.error)).slice(0, 3), [])
})
