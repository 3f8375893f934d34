// How often the runtime is asked for writable layers: each question costs it a look at every container.
import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'vitest'
import { ContainerStats } from '../../cri-api/api.js'
import { FakeClock } from '../../fakes/clock.js'
import { createLayers, type Layers } from './layers.js'

const signal = new AbortController().signal
const capacity = { capacityBytes: 9n, availableBytes: 8n, inodes: 7n, inodesFree: 6n, device: '/dev/sda' }

/** The ids that were asked for; an empty one is the list of all. */
let asked: string[] = []
/** What the runtime has measured. */
let sizes = new Map<string, bigint>()
let running: string[] = []
let hangs = false
let clock = new FakeClock()
let layers: Layers = createFixture()

function statsOf(id: string): ContainerStats {
  const used = sizes.get(id)
  return ContainerStats.fromPartial({
    attributes: { id },
    memory: { timestamp: clock.nowNanos(), usageBytes: { value: 5n } },
    writableLayer: {
      timestamp: used === undefined ? 0n : clock.nowNanos(),
      fsId: { mountpoint: '/images' },
      usedBytes: { value: used ?? 0n },
    },
  })
}

function createFixture(): Layers {
  return createLayers({
    calls: {
      containerStats: async (_, id = '') => {
        asked.push(id)
        if (hangs) await new Promise(() => {})
        return running.filter((one) => one.startsWith(id)).map(statsOf)
      },
    },
    files: { capacity: async (path) => (path === '/images' ? capacity : undefined) },
    clock,
    onFailure: (what, error) => assert.fail(`${what}: ${String(error)}`),
  })
}

beforeEach(() => {
  asked = []
  running = ['a', 'b']
  sizes = new Map([
    ['a', 10n],
    ['b', 20n],
  ])
  hangs = false
  clock = new FakeClock()
  layers = createFixture()
})

/** As a kubelet that asks every 10 s does. */
async function askFor(seconds: number, needUsage = false): Promise<void> {
  for (let s = 0; s < seconds; s += 10) {
    await layers.ensure(running, needUsage, signal)
    await clock.advance(10_000)
  }
}

describe('writable layers', () => {
  test('one list a minute, the first waited for, the others in the background', async () => {
    await layers.ensure(running, false, signal)
    assert.deepEqual(asked, [''])
    assert.equal(layers.layer('a')?.usedBytes, 10n)
    assert.equal(layers.containerFs('b')?.capacityBytes, 9n)
    assert.deepEqual(layers.containerFs('b')?.device.pairs, [['device', '/dev/sda']])
    sizes.set('a', 11n)
    await askFor(60)
    assert.deepEqual(asked, [''])
    await askFor(60)
    assert.deepEqual(asked, ['', ''])
    assert.equal(layers.layer('a')?.usedBytes, 11n)
  })

  test('a new container is asked for alone', async () => {
    await layers.ensure(running, false, signal)
    running = ['a', 'b', 'c']
    sizes.set('c', 30n)
    await layers.ensure(running, false, signal)
    assert.deepEqual(asked, ['', 'c'])
    assert.equal(layers.layer('c')?.usedBytes, 30n)
    assert.equal(layers.layer('a')?.usedBytes, 10n, 'the others stay')
  })

  test('many new ones are one list', async () => {
    await layers.ensure(running, false, signal)
    running = [...running, ...Array.from({ length: 9 }, (_, i) => `n${i}`)]
    await layers.ensure(running, false, signal)
    assert.deepEqual(asked, ['', ''])
  })

  test('a layer that the runtime has not measured yet is asked for again', async () => {
    await layers.ensure(running, false, signal)
    running = ['a', 'b', 'c']
    await askFor(20)
    assert.deepEqual(asked, ['', 'c', 'c'])
    sizes.set('c', 30n)
    await askFor(30)
    assert.deepEqual(asked, ['', 'c', 'c', 'c'])
    assert.equal(layers.layer('c')?.usedBytes, 30n)
  })

  test('one that it never measures is asked for four times', async () => {
    running = ['a', 'b', 'c']
    await askFor(60)
    assert.deepEqual(asked, ['', 'c', 'c', 'c'])
    await askFor(60)
    assert.deepEqual(asked, ['', 'c', 'c', 'c', ''], 'later only with the others')
  })

  test('pods that only the runtime sees need its values every 10 s', async () => {
    await askFor(40, true)
    assert.equal(asked.length, 4)
    assert.equal(layers.runtimeUsage('a')?.memory?.usageBytes, 5n)
  })

  test('those that are gone are forgotten with the next list', async () => {
    await layers.ensure(running, false, signal)
    running = ['b']
    await askFor(130)
    assert.equal(layers.layer('a'), undefined)
    assert.equal(layers.layer('b')?.usedBytes, 20n)
  })

  test('a runtime that hangs holds nobody longer than ten seconds', async () => {
    hangs = true
    let isBack = false
    const waiting = layers.ensure(running, false, signal).then(() => {
      isBack = true
    })
    await clock.advance(9_000)
    assert.equal(isBack, false)
    await clock.advance(1_500)
    await waiting
    assert.equal(layers.layer('a'), undefined)
    layers.close()
  })
})
