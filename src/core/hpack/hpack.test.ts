import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assertProperty } from '../../../test/support/property.js'
import { createHpackDecoder } from './decoder.js'
import { encodeFields } from './encode.js'
import { decodeHuffman } from './huffman.js'
import { staticEntries, staticIndexOf } from './static-table.js'

const bytes = (hex: string): Uint8Array => Buffer.from(hex.replaceAll(' ', ''), 'hex')
const decoder = (table = 4096, list = 65_536): ReturnType<typeof createHpackDecoder> =>
  createHpackDecoder(table, list)

test('the table has 61 entries', () => {
  expect(staticEntries).toBe(61)
  expect(staticIndexOf.get(':authority')).toBe(1)
  expect(staticIndexOf.get(':status')).toBe(8)
  expect(staticIndexOf.get('www-authenticate')).toBe(61)
})

describe('the examples of RFC 7541, appendix C', () => {
  test('C.2: the four kinds of field', () => {
    expect(
      decoder().decode(bytes('400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572')),
    ).toEqual({
      list: ['custom-key', 'custom-header'],
      sensitive: [],
    })
    expect(decoder().decode(bytes('040c 2f73 616d 706c 652f 7061 7468')).list).toEqual([
      ':path',
      '/sample/path',
    ])
    expect(decoder().decode(bytes('1008 7061 7373 776f 7264 0673 6563 7265 74'))).toEqual({
      list: ['password', 'secret'],
      sensitive: ['password'],
    })
    expect(decoder().decode(bytes('82')).list).toEqual([':method', 'GET'])
  })

  test('C.4: three requests, each with what the one before has left in the table', () => {
    const one = decoder()
    const common = [':method', 'GET', ':scheme', 'http', ':path', '/', ':authority', 'www.example.com']
    expect(one.decode(bytes('8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff')).list).toEqual(common)
    expect(one.decode(bytes('8286 84be 5886 a8eb 1064 9cbf')).list).toEqual([
      ...common,
      'cache-control',
      'no-cache',
    ])
    expect(one.decode(bytes('8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf')).list).toEqual([
      ...[':method', 'GET', ':scheme', 'https', ':path', '/index.html', ':authority', 'www.example.com'],
      ...['custom-key', 'custom-value'],
    ])
  })

  test('C.6: answers that push each other out of a table of 256 bytes', () => {
    const one = decoder(256)
    const rest = [
      'cache-control',
      'private',
      'date',
      'Mon, 21 Oct 2013 20:13:21 GMT',
      'location',
      'https://www.example.com',
    ]
    const first = one.decode(
      bytes(
        '4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3',
      ),
    )
    expect(first.list).toEqual([':status', '302', ...rest])
    expect(one.decode(bytes('4883 640e ffc1 c0bf')).list).toEqual([':status', '307', ...rest])
  })
})

describe('what is refused', () => {
  test.each([
    ['a field that is not there', 'be'],
    ['field 0', '80'],
    ['a string cut off', '400a 63'],
    ['a number without end', '7f ff ff ff ff ff ff ff 01'],
    ['a larger table than agreed', '3f e2 1f'],
    ['a new size after a field', '82 20'],
    ['padding of more than 7 bits', '0003 6666 6682 ffff'],
    ['padding of zeros', '0001 6681 00'],
  ])('%s', (_what, hex) => {
    expect(() => decoder().decode(bytes(hex))).toThrow(RangeError)
  })

  test('a block that becomes longer than allowed', () => {
    const one = decoder(4096, 100)
    one.decode(bytes('400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572'))
    expect(() => one.decode(bytes('be be'))).toThrow('longer than 100 bytes')
  })

  test('random bytes give an answer or a RangeError, never a hang', () => {
    assertProperty(
      fc.property(fc.uint8Array({ maxLength: 200 }), (block) => {
        try {
          decoder().decode(block)
        } catch (e) {
          expect(e).toBeInstanceOf(RangeError)
        }
      }),
      { numRuns: 2000 },
    )
  })
})

test('what is encoded is decoded, whatever the bytes, in order, with the marks', () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,200}$/)
  const value = fc.uint8Array({ maxLength: 400 }).map((b) => Buffer.from(b).toString('latin1'))
  assertProperty(
    fc.property(fc.array(fc.tuple(fc.oneof(name, fc.constantFrom(':path', ':status')), value)), (pairs) => {
      const list = pairs.flat()
      const marked = new Set(pairs.filter((_, i) => i % 3 === 0).map(([n]) => n))
      const found = createHpackDecoder(4096, 10_000_000).decode(encodeFields(list, marked))
      expect(found.list).toEqual(list)
      expect(new Set(found.sensitive)).toEqual(marked)
      expect(createHpackDecoder(0, 10_000_000).decode(encodeFields(list)).list).toEqual(list)
    }),
  )
})

test('a Huffman string that holds the end mark is none', () => {
  expect(decodeHuffman(bytes('ffffffff'), 0, 4)).toBeUndefined()
  expect(decodeHuffman(bytes('f1e3c2e5f23a6ba0ab90f4ff'), 0, 12)).toBe('www.example.com')
})
