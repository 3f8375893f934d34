// Our CRI v1 against the published table: the .proto text in full, and the generated code on the wire, field
// by field with an encoder of our own.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import * as api from '../src/cri-api/api.js'
import { type ProtoField, type ProtoFile, parseProto } from './proto-text.js'

const root = join(import.meta.dirname, '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const table = JSON.parse(read('test/fixtures/cri-v1-fields.json')) as ProtoFile
const ours = parseProto(read('proto/cri/runtime/v1/api.proto'))

const byName = <T extends { name: string }>(list: readonly T[]): T[] =>
  [...list].sort((a, b) => (a.name < b.name ? -1 : 1))
const byNumber = (list: readonly ProtoField[]): ProtoField[] => [...list].sort((a, b) => a.number - b.number)

describe('proto/cri/runtime/v1/api.proto', () => {
  test('has 43 RPCs, 175 messages, 478 fields and 11 enums', () => {
    expect({
      rpcs: Object.values(ours.services).flat().length,
      messages: Object.keys(ours.messages).length,
      fields: Object.values(ours.messages).flatMap((m) => m.fields).length,
      enums: Object.keys(ours.enums).length,
    }).toEqual({ rpcs: 43, messages: 175, fields: 478, enums: 11 })
  })

  test('has the table’s syntax, package and names, and no others', () => {
    expect(ours.syntax).toBe(table.syntax)
    expect(ours.package).toBe(table.package)
    for (const kind of ['services', 'messages', 'enums'] as const)
      expect(Object.keys(ours[kind]).sort()).toEqual(Object.keys(table[kind]).sort())
  })

  for (const [service, rpcs] of Object.entries(table.services))
    test(`service ${service}: every RPC`, () => {
      expect(byName(ours.services[service] ?? [])).toEqual(byName(rpcs))
    })

  test('every field of every message: name, number, type, label, deprecation', () => {
    for (const [name, message] of Object.entries(table.messages))
      expect(byNumber(ours.messages[name]?.fields ?? []), name).toEqual(byNumber(message.fields))
  })

  test('every number of every enum', () => {
    expect(ours.enums).toEqual(table.enums)
  })

  test('the reader notices a changed number, type, label or name', () => {
    const text = read('proto/cri/runtime/v1/api.proto')
    for (const [from, to] of [
      ['uint64 value = 1;', 'uint64 value = 2;'],
      ['uint64 value = 1;', 'int64 value = 1;'],
      ['repeated string servers = 1;', 'string servers = 1;'],
      ['string runtime_name = 2;', 'string name = 2;'],
      ['map<string, string> labels = 6;', 'map<string, bytes> labels = 6;'],
      ['  CGROUPFS = 1;', '  CGROUPFS = 2;'],
      ['returns (stream ContainerEventResponse)', 'returns (ContainerEventResponse)'],
    ] as const) {
      expect(text).toContain(from)
      expect(parseProto(text.replace(from, to)), to).not.toEqual(ours)
    }
    expect(() => parseProto('message A { oneof b { string c = 1; } }')).toThrow()
  })
})

interface Fns {
  encode(message: unknown): { finish(): Uint8Array }
  decode(bytes: Uint8Array): Record<string, unknown>
  fromPartial(partial: object): Record<string, unknown>
}
const exported = api as unknown as Record<string, unknown>
const fnsOf = (message: string): Fns => {
  const fns = exported[message]
  if (typeof fns !== 'object' || fns === null) throw new Error(`${message} is not generated`)
  return fns as Fns
}

/** `runtime_name` to `runtimeName`; a part that is already capital stays, as in `CDI_devices`. */
const camel = (name: string): string =>
  name.replace(/_([a-z])/g, (_, c: string) => c.toUpperCase()).replace(/_/g, '')

const varint = (n: bigint): number[] => {
  const out: number[] = []
  let rest = BigInt.asUintN(64, n)
  for (; rest > 127n; rest >>= 7n) out.push(Number(rest & 127n) | 128)
  return [...out, Number(rest)]
}
const delimited = (bytes: readonly number[]): number[] => [...varint(BigInt(bytes.length)), ...bytes]
const tag = (field: number, wire: number): number[] => varint((BigInt(field) << 3n) | BigInt(wire))

interface Probe {
  readonly value: unknown
  readonly wire: 0 | 1 | 2
  readonly payload: readonly number[]
}

/** Extreme values, so that int32 is not taken for uint32, nor int64 for sint64 or a double. */
function scalarProbe(type: string): Probe | undefined {
  switch (type) {
    case 'string':
      return { value: 'ä/1', wire: 2, payload: delimited([...Buffer.from('ä/1')]) }
    case 'bytes':
      return { value: Buffer.from([0, 255]), wire: 2, payload: delimited([0, 255]) }
    case 'bool':
      return { value: true, wire: 0, payload: [1] }
    case 'int32':
      return { value: -2, wire: 0, payload: varint(-2n) }
    case 'uint32':
      return { value: 4294967295, wire: 0, payload: varint(4294967295n) }
    case 'int64':
      return { value: -9007199254740995n, wire: 0, payload: varint(-9007199254740995n) }
    case 'uint64':
      return { value: 18446744073709551615n, wire: 0, payload: varint(18446744073709551615n) }
    case 'double':
      return { value: 1.5, wire: 1, payload: [0, 0, 0, 0, 0, 0, 0xf8, 0x3f] }
    default:
      return undefined
  }
}

const isEnum = (type: string, message: string): boolean =>
  type in table.enums || `${message}.${type}` in table.enums

function probe(type: string, message: string, depth = 0): Probe {
  const scalar = scalarProbe(type)
  if (scalar !== undefined) return scalar
  // A number that no enum has: it must survive.
  if (isEnum(type, message)) return { value: 4242, wire: 0, payload: varint(4242n) }
  const fields = table.messages[type]?.fields
  if (fields === undefined) throw new Error(`unknown type ${type}`)
  // One level of filled fields tells one message type from another; below that, an empty message.
  const inner = depth > 0 ? [] : fields.map((f) => fieldProbe(f, type, depth + 1))
  return {
    value: Object.fromEntries(inner.map((p) => [p.key, p.value])),
    wire: 2,
    payload: delimited(inner.flatMap((p) => p.bytes)),
  }
}

function fieldProbe(
  f: ProtoField,
  message: string,
  depth = 0,
): { key: string; value: unknown; bytes: number[] } {
  const key = camel(f.name)
  if (f.label === 'map') {
    const k = probe(f.keyType ?? '', message, depth)
    const v = probe(f.valueType ?? '', message, depth)
    const entry = [...tag(1, k.wire), ...k.payload, ...tag(2, v.wire), ...v.payload]
    return { key, value: { [String(k.value)]: v.value }, bytes: [...tag(f.number, 2), ...delimited(entry)] }
  }
  const one = probe(f.type, message, depth)
  if (f.label === 'singular')
    return { key, value: one.value, bytes: [...tag(f.number, one.wire), ...one.payload] }
  if (one.wire === 2) {
    const item = [...tag(f.number, 2), ...one.payload]
    return { key, value: [one.value, one.value], bytes: [...item, ...item] }
  }
  const packed = delimited([...one.payload, ...one.payload])
  return { key, value: [one.value, one.value], bytes: [...tag(f.number, 2), ...packed] }
}

describe('src/cri-api on the wire', () => {
  test('every field of every message has its number, wire type and value, both ways', () => {
    let probed = 0
    for (const [name, { fields }] of Object.entries(table.messages))
      for (const f of fields) {
        const fns = fnsOf(name)
        const { key, value, bytes } = fieldProbe(f, name)
        const encoded = fns.encode(fns.fromPartial({ [key]: value })).finish()
        expect([...encoded], `${name}.${f.name}`).toEqual(bytes)
        const decoded = fns.decode(Uint8Array.from(bytes))
        expect(fns.fromPartial({ [key]: decoded[key] }), `${name}.${f.name}`).toEqual(
          fns.fromPartial({ [key]: value }),
        )
        expect(decoded._unknownFields, `${name}.${f.name}`).toEqual({})
        probed++
      }
    expect(probed).toBe(478)
  })

  test('every message keeps a field it does not know', () => {
    const unknown = [...tag(19_999, 2), ...delimited([1, 2, 3]), ...tag(19_998, 0), 7]
    for (const name of Object.keys(table.messages)) {
      const fns = fnsOf(name)
      const again = [...fns.encode(fns.decode(Uint8Array.from(unknown))).finish()]
      expect(again.sort(), name).toEqual([...unknown].sort())
    }
  })

  test('every enum has its numbers', () => {
    for (const [name, values] of Object.entries(table.enums)) {
      const generated = exported[name.replace('.', '_')] as Record<string, number | string>
      const numbers = Object.fromEntries(Object.entries(generated).filter(([k]) => Number.isNaN(Number(k))))
      expect(numbers, name).toEqual({ ...values, UNRECOGNIZED: -1 })
    }
  })

  test('every RPC has its path, types and direction', () => {
    for (const [service, rpcs] of Object.entries(table.services)) {
      const definition = exported[`${service}Definition`] as typeof api.RuntimeServiceDefinition
      expect(definition.fullName).toBe(`${table.package}.${service}`)
      const generated = Object.values(definition.methods).map((m) => ({
        ...m,
        requestType: m.requestType as unknown,
        responseType: m.responseType as unknown,
      }))
      expect(generated.map((m) => m.name).sort()).toEqual(rpcs.map((r) => r.name).sort())
      for (const rpc of rpcs) {
        const m = generated.find(({ name }) => name === rpc.name)
        expect(m?.requestType, rpc.name).toBe(exported[rpc.request])
        expect(m?.responseType, rpc.name).toBe(exported[rpc.response])
        expect([m?.requestStream, m?.responseStream], rpc.name).toEqual([
          rpc.clientStreaming,
          rpc.serverStreaming,
        ])
      }
    }
  })

  test('the committed code is what the generator writes', (ctx) => {
    if (spawnSync('protoc', ['--version']).error !== undefined && process.env.CI !== 'true')
      ctx.skip('protoc is not installed (Debian: protobuf-compiler)')
    const out = mkdtempSync(join(tmpdir(), 'keelson-proto-'))
    try {
      const run = spawnSync(process.execPath, [join(root, 'scripts/gen-proto.mjs'), out], {
        encoding: 'utf8',
      })
      expect(run.stderr).toBe('')
      // The header names the version of protoc, which may differ between machines.
      const body = (text: string): string => text.replace(/^\/\/ {3}protoc .*$/m, '')
      expect(body(readFileSync(join(out, 'api.ts'), 'utf8')) === body(read('src/cri-api/api.ts'))).toBe(true)
    } finally {
      rmSync(out, { recursive: true })
    }
  })
})
