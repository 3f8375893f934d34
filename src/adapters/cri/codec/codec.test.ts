import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assertProperty } from '../../../../test/support/property.js'
import {
  CgroupDriver,
  ContainerConfig,
  ListContainersResponse,
  RuntimeConfigResponse,
  UInt64Value,
} from '../../../cri-api/api.js'
import { complete } from '../../../cri-api/complete.js'
import { decodeMessage, encodeMessage } from './codec.js'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const decode = (text: string): RuntimeConfigResponse =>
  decodeMessage(RuntimeConfigResponse, Buffer.from(text, 'hex'))

describe('RuntimeConfig on the wire', () => {
  test('no linux: undefined, and encoded as nothing', () => {
    expect(decode('').linux).toBeUndefined()
    expect(hex(encodeMessage(RuntimeConfigResponse, {}))).toBe('')
  })

  test('an empty linux is a message, with the first driver', () => {
    expect(decode('0a00').linux?.cgroupDriver).toBe(CgroupDriver.SYSTEMD)
    expect(hex(encodeMessage(RuntimeConfigResponse, { linux: {} }))).toBe('0a00')
  })

  test('an unknown driver keeps its number', () => {
    expect(decode('0a020807').linux?.cgroupDriver).toBe(7)
    expect(hex(encodeMessage(RuntimeConfigResponse, decode('0a020807')))).toBe('0a020807')
  })
})

describe('unknown fields', () => {
  // Field 1000 in the response and in linux.
  const newer = '0a090801c23e046e657774c23e03616263'

  test('survive decode and encode at every depth', () => {
    const message = decode(newer)
    expect(message.linux?.cgroupDriver).toBe(CgroupDriver.CGROUPFS)
    expect(hex(encodeMessage(RuntimeConfigResponse, message))).toBe(newer)
  })

  test('survive a change of a known field', () => {
    const message = decode(newer)
    const changed = encodeMessage(RuntimeConfigResponse, {
      ...message,
      linux: { ...message.linux, cgroupDriver: CgroupDriver.SYSTEMD },
    })
    expect(hex(changed)).toBe(newer.replace('0a090801', '0a07'))
  })

  test('survive inside lists and maps of a partial message', () => {
    const item = Buffer.from('0a0161c23e0162', 'hex')
    const list = Buffer.concat([Buffer.from([0x0a, item.length]), item])
    expect(hex(encodeMessage(ListContainersResponse, decodeMessage(ListContainersResponse, list)))).toBe(
      hex(list),
    )
  })

  test('a message without any has no leftovers', () => {
    expect(complete(ContainerConfig, { labels: { a: 'b' } }).labels).toEqual({ a: 'b' })
  })
})

test('64-bit numbers are exact', () => {
  for (const value of [0n, 1n, 2n ** 53n + 1n, 2n ** 64n - 1n])
    expect(decodeMessage(UInt64Value, encodeMessage(UInt64Value, { value })).value).toBe(value)
})

describe('bytes that are no message', () => {
  for (const { name, text } of [
    { name: 'a body of zeros', text: '0000000000' },
    { name: 'an end-group tag and more', text: '0c0a00' },
    { name: 'a length beyond the end', text: '0a05' },
    { name: 'an endless varint', text: 'ffffffffffffffffffffff' },
    { name: 'a reserved wire type', text: '0f00' },
  ])
    test(name, () => {
      expect(() => decode(text)).toThrow()
    })

  test('random bytes decode or throw, and never hang', () => {
    assertProperty(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          decodeMessage(ListContainersResponse, bytes)
        } catch (e) {
          expect(e).toBeInstanceOf(Error)
        }
      }),
      { numRuns: 5000 },
    )
  })
})
