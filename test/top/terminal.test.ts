// `keelson top` in a real terminal: keys, sizes, a runtime that goes and comes back, and what 500 pods cost.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Bundle, bundleCommand } from '../support/command.js'
import { createDashboardFixture, type DashboardFixture } from '../support/dashboard-fixture.js'
import { slowness } from '../support/machine-speed.js'
import { requires } from '../support/requirements.js'
import { openWindow, type Window } from '../support/tmux-window.js'

const MiB = 1024 * 1024
let bundle: Bundle
beforeAll(async () => {
  bundle = await bundleCommand()
})
afterAll(() => bundle.remove())
beforeEach((ctx) => {
  requires(ctx, { commands: ['tmux'] })
})

const openTop = (fixture: DashboardFixture, columns = 120, rows = 20, ...more: string[]): Window =>
  openWindow(
    [
      process.execPath,
      bundle.main,
      'top',
      '--interval',
      '0.5',
      ...[
        '--runtime-endpoint',
        fixture.runtime.endpoint,
        '--cgroup-mount',
        fixture.cgroupRoot,
        '--proc-mount',
        fixture.proc,
      ],
      ...more,
    ],
    columns,
    rows,
  )

describe('three pods', () => {
  let fixture: DashboardFixture
  let top: Window
  beforeAll(async () => {
    fixture = await createDashboardFixture({ pods: 3 })
  })
  afterAll(() => fixture.close())
  const withTop = async (run: () => Promise<void>, columns?: number, rows?: number): Promise<void> => {
    top = openTop(fixture, columns, rows)
    try {
      await run()
    } finally {
      top.close()
    }
  }

  test('values are those of the files, and follow them', () =>
    withTop(async () => {
      fixture.write(fixture.path(1), 'memory.current', 300 * MiB)
      fixture.write(fixture.path(1, 0), 'memory.current', 95 * MiB)
      await top.shows(/shop\/db-1 .* 296Mi .* 50 /)
      fixture.write(fixture.path(1, 0), 'memory.current', 186 * MiB)
      await top.shows(/shop\/db-1 .* 98 /)
      // 2000 a second, on and on: one reading that comes late shows less, the next one does not.
      const begun = performance.now()
      const timer = setInterval(() => {
        const high = Math.round(2 * (performance.now() - begun))
        fixture.write(fixture.path(1), 'memory.events', `low 0\nhigh ${high}\nmax 0\noom 0\noom_kill 0\n`)
      }, 50)
      try {
        await top.shows(/shop\/db-1 .* (1[6-9]|2[0-4])\d\d /)
      } finally {
        clearInterval(timer)
      }
    }))

  test('keys: sort, tree, filter, explain, log, help, quit', () =>
    withTop(
      async () => {
        await top.shows('demo/web-0')
        top.keys('n')
        await top.shows('▲POD')
        top.keys('t')
        await top.shows('└ sidecar')
        top.keys('/')
        top.keys('d', 'b')
        await top.shows('filter: db_')
        top.keys('Enter')
        expect(await top.shows('filter: db (1 of 3)')).not.toContain('web-0')
        top.keys('e')
        const explained = await top.shows('cgroup tree: written')
        expect(explained).toContain('pod shop/db-1')
        expect(explained).toContain('read back from memory.min')
        top.keys('l')
        await top.shows('db-1 app says hello')
        expect(top.screen()).toContain('and red')
        top.keys('Escape')
        await top.shows('q quit')
        top.keys('?')
        await top.shows('memory.high events per second')
        top.keys('q')
        await top.shows('q quit')
        top.keys('q')
        await expect.poll(() => top.isOpen).toBe(false)
      },
      120,
      40,
    ))

  test('l on a pod with two containers asks which log', () =>
    withTop(async () => {
      await top.shows('demo/web-0')
      top.keys('n')
      await top.shows('▲POD')
      top.keys('l')
      const asked = await top.shows('log of which container of demo/web-0?')
      expect(asked).toMatch(/> 1 {2}app\s+2 {2}sidecar/)
      top.keys('2')
      await top.shows('web-0 sidecar says hello')
    }))

  test('every size, down to one that shows next to nothing', () =>
    withTop(async () => {
      await top.shows('WRITE/s')
      top.resize(80, 24)
      await top.shows(/^POD +CPU +▼MEM +M%REQ +%HIGH +THR\/s +CTHR% +PSIm$/m)
      top.resize(40, 10)
      await top.shows(/^POD +▼MEM +%HIGH$/m)
      top.resize(20, 6)
      await top.shows(/^shop\/db-1$|^shop\/db-1 /m)
      top.resize(200, 50)
      await top.shows('WRITE/s')
      expect(
        top
          .screen()
          .split('\n')
          .filter((l) => l.includes('POD ')),
      ).toHaveLength(1)
    }, 170))

  test('the runtime goes and comes back; the last list stays meanwhile', () =>
    withTop(async () => {
      await top.shows('demo/web-0')
      await fixture.runtime.stop()
      const away = await top.shows(/runtime is unreachable, list is \d+ s old/)
      expect(away).toContain('demo/web-0')
      fixture.setPods(4)
      await fixture.runtime.start()
      const back = await top.shows('shop/cache-3')
      expect(back).toContain('runtime unix://')
      expect(back).not.toContain('runtime is unreachable')
      fixture.setPods(3)
    }))

  test('a runtime that was never there is waited for', async () => {
    await fixture.runtime.stop()
    try {
      await withTop(async () => {
        await top.shows('the runtime is unreachable; no pods listed yet')
        await top.shows(/runtime is unreachable, no list yet: .*UNAVAILABLE/)
        await fixture.runtime.start()
        await top.shows('demo/web-0')
      })
    } finally {
      await fixture.runtime.restart()
    }
  })
})

test('no pods at all', async () => {
  const fixture = await createDashboardFixture({ pods: 0 })
  const top = openTop(fixture)
  try {
    await top.shows('no pods')
  } finally {
    top.close()
    await fixture.close()
  }
})

const ticksOf = (pid: number): number => {
  const words = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  return Number(words[11]) + Number(words[12])
}

test('500 pods that all work cost less than 5 % of a core', { timeout: 180_000, retry: 1 }, async () => {
  const fixture = await createDashboardFixture({ pods: 500 })
  const top = openTop(fixture, 140, 40, '--interval', '2')
  const worker = setInterval(() => fixture.work(), 1000)
  try {
    await top.shows('500 pods, 667 containers')
    // ContainerStatus of every container is asked once, a part of them each time.
    await sleep(25_000)
    const pid = top.pid()
    const shares: number[] = []
    for (let i = 0; i < 3; i++) {
      const before = ticksOf(pid)
      await sleep(10_000)
      shares.push((ticksOf(pid) - before) / 10)
    }
    const slower = slowness()
    console.log(`top with 500 pods: ${shares.join(', ')} % of a core, ${slower.toFixed(2)} times slower`)
    expect(Math.min(...shares) / slower).toBeLessThan(5)
  } finally {
    clearInterval(worker)
    top.close()
    await fixture.close()
  }
})
