// The stream of a watch in pieces of any size: the same lines come out, and whatever a line says is an event or a failure.
import { createLineSplitter } from '../../../src/adapters/kubeapi/lines.js'
import { keelsonError } from '../../../src/core/errors.js'
import { parseListPage, parseWatchEvent } from '../../../src/core/kube/watch-event.js'
import { mutateText, type Random } from '../random.js'
import { check, type FuzzTarget } from '../types.js'

const seeds = [
  '{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"a","uid":"u","resourceVersion":"12"}}}',
  '{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"99","annotations":{"k8s.io/initial-events-end":"true"}}}}',
  '{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}}',
  '{"type":"DELETED","object":{"metadata":null}}',
  '{"metadata":{"resourceVersion":"5","continue":"x"},"items":[{"metadata":{"name":"ü"}},null]}',
] as const
const maxLineBytes = 4096

interface Input {
  readonly lines: readonly string[]
  readonly cuts: readonly number[]
}

export const watchStream: FuzzTarget = {
  name: 'watch-stream',
  generate: (random: Random): Input => ({
    lines: Array.from({ length: 1 + random.below(4) }, () => mutateText(random.pick(seeds), random)),
    cuts: Array.from({ length: random.below(6) }, () => random.below(600)),
  }),
  run(input) {
    const { lines, cuts } = input as Input
    const bytes = Buffer.from(`${lines.join('\n')}\n`)
    const splitter = createLineSplitter(maxLineBytes)
    const found: string[] = []
    let from = 0
    try {
      for (const cut of [...cuts].sort((a, b) => a - b).concat(bytes.length)) {
        found.push(...splitter.push(bytes.subarray(from, Math.max(from, cut))))
        from = Math.max(from, cut)
      }
    } catch (e) {
      check(
        lines.some((line) => Buffer.byteLength(line) > maxLineBytes),
        `refused without a long line: ${String(e)}`,
      )
      throw keelsonError('kubeapi.failed', 'a line is too long')
    }
    const whole = bytes
      .toString('utf8')
      .split('\n')
      .filter((line) => line.trim() !== '')
    check(JSON.stringify(found) === JSON.stringify(whole), 'pieces gave other lines')
    for (const line of found) {
      let value: unknown
      try {
        value = JSON.parse(line)
      } catch {
        continue
      }
      check(
        ['put', 'removed', 'bookmark', 'expired', 'failed'].includes(parseWatchEvent(value).kind),
        'an unknown event',
      )
      check(
        parseListPage(value).items.every((item) => typeof item === 'object'),
        'an item is no object',
      )
    }
  },
}
