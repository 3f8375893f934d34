// The answer of ListPodSandboxMetrics, read by hand, against the generated encoder.
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  ListPodSandboxMetricsResponse,
  Metric,
  type PodSandboxMetrics,
  StreamPodSandboxMetricsResponse,
} from '../../../cri-api/api.js'
import { decodeMessage } from './codec.js'
import { podMetricsDecoder } from './metrics-answer.js'

const read = (bytes: Uint8Array): PodSandboxMetrics[] =>
  decodeMessage(podMetricsDecoder, bytes).map((pod) => ({
    podSandboxId: pod.podSandboxId,
    metrics: [...pod.metrics],
    containerMetrics: pod.containerMetrics.map((c) => ({ ...c, metrics: [...c.metrics] })),
  }))

/** A small generator with a seed: the same cases in every run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const numbers = [0n, 1n, 127n, 128n, 2n ** 49n - 1n, 2n ** 49n, 2n ** 53n, 2n ** 63n - 1n]

function randomAnswer(seed: number): ListPodSandboxMetricsResponse {
  const random = createRandom(seed)
  const text = (): string => ['', 'a', 'größe', 'x'.repeat(random(300)), `id-${random(4)}`][random(5)] ?? ''
  const number = (): bigint => numbers[random(numbers.length)] ?? 0n
  const rows = Array.from({ length: 3 }, () => Array.from({ length: random(8) }, text))
  const metric = (): Metric => ({
    name: ['container_a', 'container_b', text()][random(3)] ?? '',
    timestamp: random(8) === 0 ? -number() : number(),
    metricType: random(2),
    labelValues: [...(rows[random(3)] ?? []), ...(random(2) === 0 ? [text()] : [])],
    value: random(5) === 0 ? undefined : { value: number() * 2n },
  })
  const metrics = (): Metric[] => Array.from({ length: random(12) }, metric)
  return {
    podMetrics: Array.from({ length: random(6) }, () => ({
      podSandboxId: text(),
      metrics: metrics(),
      containerMetrics: Array.from({ length: random(4) }, () => ({
        containerId: text(),
        metrics: metrics(),
      })),
    })),
  }
}

describe('the metrics answer', () => {
  test('is what the generated encoder was given, in 2,000 answers', () => {
    for (let seed = 1; seed <= 2_000; seed++) {
      const answer = randomAnswer(seed)
      assert.deepEqual(
        read(ListPodSandboxMetricsResponse.encode(answer).finish()),
        answer.podMetrics,
        `seed ${seed}`,
      )
    }
  })

  test('one message of the stream has the same bytes', () => {
    const { podMetrics } = randomAnswer(7)
    const bytes = StreamPodSandboxMetricsResponse.encode({ podSandboxMetrics: podMetrics }).finish()
    assert.deepEqual(read(bytes), podMetrics)
  })

  test('two ways through the same metrics do not disturb each other', () => {
    const { podMetrics } = randomAnswer(13)
    const [pod] = podMetrics.filter((p) => p.metrics.length > 3)
    assert.ok(pod !== undefined)
    const bytes = ListPodSandboxMetricsResponse.encode({ podMetrics: [pod] }).finish()
    const [found] = decodeMessage(podMetricsDecoder, bytes)
    const inner: Metric[][] = []
    const outer: Metric[] = []
    for (const metric of found?.metrics ?? []) {
      outer.push(metric)
      inner.push([...(found?.metrics ?? [])])
    }
    assert.deepEqual(outer, pod.metrics)
    for (const one of inner) assert.deepEqual(one, pod.metrics)
  })

  test('labels in two places of a metric, and fields of a later API', () => {
    const first = Metric.encode(Metric.fromPartial({ name: 'n', labelValues: ['a', 'b'] })).finish()
    const later = [0xc2, 0x3e, 2, 1, 2, 0xc5, 0x3e, 1, 2, 3, 4]
    const metric = [...first, 0x28 + 2, 0, ...later, 0x22, 1, 0x63]
    const pod = [0x12, metric.length, ...metric]
    const [found] = read(Uint8Array.from([0x0a, pod.length, ...pod]))
    assert.deepEqual(found?.metrics, [
      { name: 'n', timestamp: 0n, metricType: 0, labelValues: ['a', 'b', 'c'], value: { value: 0n } },
    ])
  })

  test('every cut and every changed byte is read or refused, never followed out of its message', () => {
    const whole = ListPodSandboxMetricsResponse.encode(randomAnswer(11)).finish()
    assert.ok(whole.length > 500)
    const random = createRandom(3)
    for (let i = 0; i < 5_000; i++) {
      const bytes = Uint8Array.from(whole.subarray(0, i % 2 === 0 ? random(whole.length) : whole.length))
      if (i % 2 === 1) bytes[random(bytes.length)] = random(256)
      try {
        read(bytes)
      } catch (e) {
        assert.match(String(e), /unreadable field at byte \d+ of \d+/)
      }
    }
    assert.throws(() => read(new Uint8Array(5)), /unreadable/)
  })
})
