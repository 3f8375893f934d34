// The answers of every RPC, directly and through the server, byte by byte.
import assert from 'node:assert/strict'
import type { ClientHttp2Session } from 'node:http2'
import { ImageServiceDefinition, type MessageFns, RuntimeServiceDefinition } from '../../src/cri-api/api.js'
import { complete } from '../../src/cri-api/complete.js'
import { type Expectation, everyRpc, type PodIds, type Row } from './every-rpc.js'
import { frame, type RawAnswer, rawCall, statusIn } from './raw-client.js'

const services = [RuntimeServiceDefinition, ImageServiceDefinition]

interface Known {
  readonly path: string
  readonly requestType: MessageFns<unknown>
}

export const knownRpcs: ReadonlyMap<string, Known> = new Map(
  services.flatMap((s) =>
    Object.values(s.methods).map((m): [string, Known] => [
      m.name,
      { path: `/${s.fullName}/${m.name}`, requestType: m.requestType as unknown as MessageFns<unknown> },
    ]),
  ),
)

/** Go writes the entries of a map, and the items of some lists, in an order of its own each time. */
const attempts = 40

const printed = (a: RawAnswer, expect: Expectation): string => {
  const masked = typeof expect === 'object' && 'mask' in expect ? expect : undefined
  const hide = (text: string): string => (masked === undefined ? text : text.replace(masked.mask, ''))
  const isStatus = masked?.in === 'status'
  const body = a.body.toString('latin1')
  return JSON.stringify({
    headers: isStatus ? a.headers.map(hide) : a.headers,
    headersEndStream: a.headersEndStream,
    body: isStatus ? body : hide(body),
    trailers: a.trailers,
    rstCode: a.rstCode,
  })
}

export interface Compared {
  readonly rpc: string
  readonly note: string
  readonly outcome: 'same' | string
  readonly directStatus: string | undefined
  readonly throughStatus: string | undefined
}

async function compareRow(
  row: Row,
  ids: PodIds,
  direct: ClientHttp2Session,
  through: ClientHttp2Session,
): Promise<Compared> {
  const known = knownRpcs.get(row.rpc)
  assert.ok(known !== undefined, row.rpc)
  const { path, requestType } = known
  const body = frame(requestType.encode(complete(requestType, row.request(ids) as object)).finish())
  const expected = new Set<string>()
  let last: { d: RawAnswer; t: RawAnswer } | undefined
  for (let i = 0; i < attempts; i++) {
    const more = typeof row.expect === 'object' && 'endless' in row.expect ? { 'grpc-timeout': '1S' } : {}
    const d = await rawCall(direct, path, body, more)
    const t = await rawCall(through, path, body, more)
    last = { d, t }
    const statuses = { directStatus: statusIn(d), throughStatus: statusIn(t) }
    const result = { rpc: row.rpc, note: row.note ?? '', ...statuses }
    if (typeof row.expect === 'object' && 'ours' in row.expect) return { ...result, outcome: row.expect.ours }
    expected.add(printed(d, row.expect))
    if (expected.has(printed(t, row.expect))) return { ...result, outcome: 'same' }
  }
  assert.equal(
    printed(last?.t ?? assert.fail(), row.expect),
    printed(last?.d ?? assert.fail(), row.expect),
    `${row.rpc} ${row.note ?? ''}`,
  )
  assert.fail('unreachable')
}

export async function compareEveryRpc(
  ids: PodIds,
  direct: ClientHttp2Session,
  through: ClientHttp2Session,
): Promise<readonly Compared[]> {
  const unlisted = [...knownRpcs.keys()].filter((name) => !everyRpc.some((r) => r.rpc === name))
  assert.deepEqual(unlisted, [], 'every RPC of CRI v1 has a row')
  const compared: Compared[] = []
  for (const row of everyRpc) compared.push(await compareRow(row, ids, direct, through))
  return compared
}
