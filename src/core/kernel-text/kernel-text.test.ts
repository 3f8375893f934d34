import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assertProperty } from '../../../test/support/property.js'
import { parseCpuMax } from './cpu-max.js'
import { parseCount, parseCountOrMax, parseSigned } from './digits.js'
import { createFlatKeyedParser, parseFlatKeyed } from './flat-keyed.js'
import { parseBlkio, parseNestedKeyed } from './nested-keyed.js'
import { parsePressure } from './pressure.js'
import { isSettled, settledValue } from './read-back.js'
import { parsePids, parseWords } from './words.js'

const text = (s: string): Uint8Array => new TextEncoder().encode(s)

describe('counts', () => {
  for (const [input, count] of [
    ['0\n', 0n],
    ['4096', 4096n],
    ['999999999999999\n', 999999999999999n],
    ['1000000000000000\n', 1000000000000000n],
    ['9007199254740993\n', 9007199254740993n],
    ['18446744073709551615\n', 18446744073709551615n],
    ['', undefined],
    ['\n', undefined],
    ['max\n', undefined],
    ['12a4\n', undefined],
    ['-1\n', undefined],
    ['1 2\n', undefined],
  ] as const)
    test(`parseCount ${JSON.stringify(input)}`, () => expect(parseCount(text(input))).toBe(count))

  test('any uint64 is exact', () => {
    assertProperty(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 70n }), (n) => parseCount(text(`${n}\n`)) === n),
    )
  })

  test('max and signs', () => {
    expect(parseCountOrMax(text('max\n'))).toBe('max')
    expect(parseCountOrMax(text('maxi\n'))).toBeUndefined()
    expect(parseCountOrMax(text('7\n'))).toBe(7n)
    expect([parseSigned(text('-1\n')), parseSigned(text('50000\n')), parseSigned(text('-\n'))]).toEqual([
      -1n,
      50000n,
      undefined,
    ])
  })
})

describe('flat keyed', () => {
  const stat = text('anon 4096\nfile 18446744073709551615\ninactive_file 12\nfile_mapped 3\nslab x\n')
  test('wanted keys only, exactly', () => {
    const parse = createFlatKeyedParser(['file', 'inactive_file', 'slab', 'none'])
    expect(parse(stat)).toEqual({
      file: 18446744073709551615n,
      inactive_file: 12n,
      slab: undefined,
      none: undefined,
    })
    expect(parse(text(''))).toEqual({
      file: undefined,
      inactive_file: undefined,
      slab: undefined,
      none: undefined,
    })
  })

  test('keys that begin alike, lines without a value and a missing last newline', () => {
    const parse = createFlatKeyedParser(['a', 'ab', 'abc'])
    expect(parse(text('abcd 9\nabc\nab 2\na 1\nabc 3'))).toEqual({ a: 1n, ab: 2n, abc: 3n })
  })

  test('agrees with the plain parser on any text of keys', () => {
    const key = fc.stringMatching(/^[a-z_]{1,12}$/)
    const lines = fc.uniqueArray(fc.tuple(key, fc.bigInt({ min: 0n, max: 2n ** 64n })), {
      selector: ([k]) => k,
    })
    assertProperty(
      fc.property(lines, (rows) => {
        const bytes = text(rows.map(([k, v]) => `${k} ${v}\n`).join(''))
        const all = parseFlatKeyed(bytes)
        expect([...all]).toEqual(rows)
        const parsed = createFlatKeyedParser(rows.map(([k]) => k))(bytes)
        for (const [k, v] of rows) expect(parsed[k]).toBe(v)
      }),
    )
  })
})

describe('nested keyed', () => {
  test('io.stat', () => {
    const rows = parseNestedKeyed(
      text('8:0 rbytes=1 wbytes=2\n8:16 8:32 rbytes=18446744073709551615 dios=x\n9:0\n'),
    )
    expect(rows).toEqual(
      new Map([
        [
          '8:0',
          new Map([
            ['rbytes', 1n],
            ['wbytes', 2n],
          ]),
        ],
        ['8:32', new Map([['rbytes', 18446744073709551615n]])],
      ]),
    )
  })
  test('blkio of v1', () => {
    expect(parseBlkio(text('8:0 Read 4096\n8:0 Write 1\nTotal 4097\n'))).toEqual(
      new Map([
        [
          '8:0',
          new Map([
            ['Read', 4096n],
            ['Write', 1n],
          ]),
        ],
      ]),
    )
    expect(parseBlkio(text('Total 0\n')).size).toBe(0)
  })
})

describe('other files', () => {
  test('pressure, with and without full', () => {
    const some = 'some avg10=1.50 avg60=0.00 avg300=12.34 total=18446744073709551615\n'
    expect(parsePressure(text(some))).toEqual({
      some: { avg10: 1.5, avg60: 0, avg300: 12.34, totalMicros: 18446744073709551615n },
    })
    expect(
      parsePressure(text(`${some}full avg10=0.00 avg60=0.00 avg300=0.00 total=3\n`))?.full?.totalMicros,
    ).toBe(3n)
    expect(parsePressure(text('nothing\n'))).toBeUndefined()
  })
  test('cpu.max', () => {
    expect(parseCpuMax(text('max 100000\n'))).toEqual({ quotaMicros: 'max', periodMicros: 100_000n })
    expect(parseCpuMax(text('50000 100000\n'))).toEqual({ quotaMicros: 50_000n, periodMicros: 100_000n })
    for (const line of ['', 'max', 'max ', 'x 100000', '1 y']) expect(parseCpuMax(text(line))).toBeUndefined()
  })
  test('words and process ids', () => {
    expect(parseWords(text('cpu io  memory\n'))).toEqual(['cpu', 'io', 'memory'])
    expect(parsePids(text('1\n22\n'))).toEqual([1, 22])
    expect(parsePids(text(''))).toEqual([])
  })
})

describe('read-back', () => {
  for (const [file, written, pageSize, read] of [
    ['memory.high', '100000000', 4096n, '99999744'],
    ['memory.high', '100000000', 65536n, '99942400'],
    ['memory.min', '4095', 4096n, '0'],
    ['memory.max', 'max\n', 4096n, 'max'],
    ['memory.max', '9223372036854775807', 4096n, 'max'],
    ['memory.max', '9223372036854771712', 4096n, 'max'],
    ['memory.max', '9223372036854771711', 4096n, '9223372036854767616'],
    ['memory.max', '18446744073709551615', 4096n, 'max'],
    ['hugetlb.2MB.max', '3000000', 4096n, '2097152'],
    ['hugetlb.1GB.rsvd.max', '1073741823', 4096n, '0'],
    ['cpu.weight', '0100', 4096n, '100'],
    ['cpu.max', 'max', 4096n, 'max 100000'],
    ['cpu.max', '50000 100000', 4096n, '50000 100000'],
    ['pids.max', '77', 4096n, '77'],
  ] as const)
    test(`${file}=${written.trim()} reads ${read} with pages of ${pageSize}`, () => {
      expect(settledValue(file, written, pageSize)).toBe(read)
      expect(isSettled(file, written, `${read}\n`, pageSize)).toBe(true)
    })
  test('a different value is not settled', () => {
    expect(isSettled('memory.high', '8192', '4096', 4096n)).toBe(false)
    expect(isSettled('memory.high', 'max', '4096', 4096n)).toBe(false)
  })
})
