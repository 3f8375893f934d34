// Suite `memory-qos` (KEP-2570): picks the runner of a case's kind and compares under the suite's own rules for
// what counts as equal.
import { isDeepStrictEqual } from 'node:util'
import { compare } from '../../compare.js'
import { type Fields, fieldsAt, type Suite } from '../../types.js'
import { runCgroupName } from './cgroup-name.js'
import { runConfig } from './config.js'
import { runNode } from './node.js'
import { runPod } from './pod.js'
import { runCpu, runKernel, runQuantity } from './small-kinds.js'
import { runTransition } from './transition.js'

type Kind = (input: Fields, expected: Fields) => Fields | Promise<Fields>

const kinds: ReadonlyMap<unknown, Kind> = new Map<unknown, Kind>([
  ['pod', runPod],
  ['quantity', runQuantity],
  ['config', runConfig],
  ['cgroupName', runCgroupName],
  ['kernel', runKernel],
  ['node', runNode],
  ['cpu', runCpu],
  ['transition', runTransition],
])

export const memoryQos: Suite = {
  suite: 'memory-qos',
  async run(vector) {
    const kind = kinds.get(vector['kind'])
    if (kind === undefined) throw new Error(`kind ${JSON.stringify(vector['kind'])} is not supported`)
    const expected = fieldsAt(vector, 'expected')
    if (Object.keys(expected).length === 0) throw new Error('the vector expects nothing')
    const got = await kind(fieldsAt(vector, 'input'), expected)
    const pageSize = BigInt(Number(fieldsAt(vector, 'input')['pageSize'] ?? 4096))
    return compare(expected, got, {
      equal: vector['kind'] === 'transition' ? equalContents(pageSize) : equalWritten,
      complete: vector['kind'] === 'node' ? ['reserved', 'metrics'] : [],
      alsoAccept: vector['alsoAccept'],
    })
  },
}

const resting: Readonly<Record<string, string>> = {
  'memory.min': '0',
  'memory.low': '0',
  'memory.high': 'max',
  'memory.max': 'max',
  'cpu.max': 'max 100000',
}

/** A file that is not written and one that gets its resting value are the same file. */
function equalWritten(key: string, expected: unknown, got: unknown): boolean {
  const rest = resting[key]
  if (rest === undefined) return isDeepStrictEqual(expected, got)
  return (expected ?? rest) === (got ?? rest)
}

/** File contents are whole pages on both sides. */
const equalContents =
  (pageSize: bigint) =>
  (key: string, expected: unknown, got: unknown): boolean => {
    const rest = resting[key]
    if (rest === undefined || typeof got !== 'string') return isDeepStrictEqual(expected, got)
    const floored = (text: string) => (/^[0-9]+$/.test(text) ? (BigInt(text) / pageSize) * pageSize : text)
    return floored(typeof expected === 'string' ? expected : rest) === floored(got)
  }
