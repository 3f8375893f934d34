/// <reference lib="dom" />
// The dashboard in Debian's Chromium: every panel against the files and answers it stands for, at that moment.
import { readFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { humanBytes } from '../../src/core/units/human-bytes.js'
import { createDashboardFixture, type DashboardFixture } from '../support/dashboard-fixture.js'
import { requires } from '../support/requirements.js'
import { seriousProblems } from './axe.js'
import { logIn, openBrowser, openPage, type WatchedPage, withBrowser } from './browser.js'
import { type ServedFixture, serveCompanion, serveCri } from './serve-fixture.js'

const MiB = 1024 * 1024
let browser: Browser
let fixture: DashboardFixture
let served: ServedFixture
let watched: WatchedPage
beforeEach((ctx) => requires(ctx, { commands: ['chromium'] }))
beforeAll(
  withBrowser(async () => {
    browser = await openBrowser()
  }),
)
afterAll(withBrowser(() => browser.close()))

async function show(page: string, selector: string): Promise<void> {
  await watched.page.goto(`${served.url}/#/${page}`)
  await watched.page.waitForSelector(selector)
}

async function texts(selector: string): Promise<string[]> {
  return (await watched.page.locator(selector).allInnerTexts()).map((t) => t.trim())
}

/** Waits for the page to show it: readings come every second. */
const shows = (selector: string, text: string | RegExp): Promise<void> =>
  expect
    .poll(async () => (await texts(selector)).join(' | '), { timeout: 15_000, interval: 100 })
    .toMatch(text instanceof RegExp ? text : new RegExp(`^${text.replaceAll('.', '\\.')}$`))

afterEach(() => {
  expect(watched?.complaints ?? []).toEqual([])
})

/** Notes what is written on the charts, which no selector can find: the labels of time of each drawing. */
async function noteLabels(page: WatchedPage['page']): Promise<void> {
  await page.addInitScript(() => {
    const drawn: string[][] = []
    Object.assign(globalThis, { drawn })
    const { fillText, clearRect } = CanvasRenderingContext2D.prototype
    CanvasRenderingContext2D.prototype.clearRect = function (...area) {
      drawn.push([])
      clearRect.apply(this, area)
    }
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
      if (/^\d\d:\d\d:\d\d$/.test(text)) drawn.at(-1)?.push(text)
      fillText.call(this, text, x, y)
    }
  })
}

/** Of each chart: pixels right of the last moment, and half of the label that stands under it. */
const roomForLabels = (page: WatchedPage['page']): Promise<{ room: number; needed: number }[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('.plot canvas')].map((element) => {
      const canvas = element as HTMLCanvasElement
      const over = canvas.parentElement?.querySelector('.u-over') ?? canvas
      const pen = canvas.getContext('2d')
      return {
        room: canvas.getBoundingClientRect().right - over.getBoundingClientRect().right,
        needed: (pen?.measureText('22:22:22').width ?? 0) / 2 / devicePixelRatio,
      }
    }),
  )

describe('charts on a phone, in their first seconds', () => {
  test('no label of time stands twice, and the last one is not cut off', async () => {
    const small = await createDashboardFixture({ pods: 1 })
    const server = await serveCri(small)
    const phone = await openPage(browser, { width: 390, height: 800 })
    try {
      await noteLabels(phone.page)
      await logIn(phone, () => server.loginLink())
      const drawn = (): Promise<string[][]> =>
        phone.page.evaluate(() => (globalThis as unknown as { drawn: string[][] }).drawn)
      await expect
        .poll(async () => (await drawn()).filter((d) => d.length > 1).length, { timeout: 30_000 })
        .toBeGreaterThan(6)
      for (const labels of await drawn()) expect(labels).toEqual([...new Set(labels)])
      const charts = await roomForLabels(phone.page)
      expect(charts).toHaveLength(4)
      for (const { room, needed } of charts) {
        expect(needed).toBeGreaterThan(15)
        expect(room).toBeGreaterThanOrEqual(needed)
      }
    } finally {
      await phone.page.context().close()
      await server.close()
      await small.close()
    }
  })
})

describe('keelson cri', () => {
  beforeAll(
    withBrowser(async () => {
      fixture = await createDashboardFixture({ pods: 3 })
      served = await serveCri(fixture)
      watched = await openPage(browser)
      await logIn(watched, () => served.loginLink())
      await watched.page.waitForSelector('[data-pod]')
    }),
  )
  afterAll(
    withBrowser(async () => {
      await watched.page.context().close()
      await served.close()
      await fixture.close()
    }),
  )

  test('the page is small, comes from here alone, and its policy allows nothing else', async () => {
    expect(watched.weight()).toBeGreaterThan(10_000)
    expect(watched.weight()).toBeLessThanOrEqual(150_000)
    console.log(`the page weighs ${watched.weight()} bytes compressed`)
    expect(watched.requests.filter((url) => !url.startsWith(`${served.url}/`))).toEqual([])
    const answer = await watched.page.request.get(`${served.url}/`)
    expect(answer.headers()['content-security-policy']).toContain("default-src 'none'; script-src 'self'")
  })

  test('bars: each value is that of the file, and follows it', async () => {
    const at = fixture.path(1)
    const files = { min: 'memory.min', low: 'memory.low', high: 'memory.high', max: 'memory.max' }
    fixture.write(at, 'memory.low', 24 * MiB)
    fixture.write(at, 'memory.current', 300 * MiB)
    fixture.write(at, 'memory.stat', `anon ${MiB}\nfile ${80 * MiB}\ninactive_file ${50 * MiB}\n`)
    const pod = '[data-pod="shop/db-1"] > .memory'
    await shows(`${pod} [data-file="low"]`, '24Mi')
    await shows(`${pod} [data-file="ws"]`, humanBytes(250 * MiB))
    await shows(`${pod} [data-file="cache"]`, humanBytes(80 * MiB))
    for (const [key, file] of Object.entries(files)) {
      const value = fixture.read(at, file)
      const title = value === 'max' ? 'no limit' : `${value} bytes`
      expect(await watched.page.locator(`${pod} [data-file="${key}"]`).getAttribute('title')).toBe(title)
    }
    const container = '[data-pod="shop/db-1"] [data-container="app"] [data-file="high"]'
    await shows(container, humanBytes(BigInt(fixture.read(fixture.path(1, 0), 'memory.high'))))
    fixture.write(fixture.path(1, 0), 'memory.high', 123 * MiB)
    await shows(container, '123Mi')
  })

  test('what happens next, with its severity', async () => {
    const next = '[data-pod="shop/db-1"] .next'
    fixture.write(fixture.path(1, 0), 'memory.high', 190 * MiB)
    fixture.write(fixture.path(1, 0), 'memory.current', 180 * MiB)
    await shows(next, /^Warning 10Mi until it is throttled at memory\.high 190Mi$/)
    fixture.write(fixture.path(1, 0), 'memory.current', 195 * MiB)
    await shows(next, /^Critical .*(above memory\.high|throttled)/)
    await shows('[data-node="pods"]', '3')
    expect((await texts('.pods > li:first-child .pod-name'))[0]).toContain('db-1')
    fixture.write(fixture.path(1, 0), 'memory.current', 20 * MiB)
    await shows(next, /^OK /)
  })

  test('the node: capacity, what is available, processors and pressure', async () => {
    const info = readFileSync(`${fixture.proc}/meminfo`, 'utf8')
    const kib = (name: string): bigint => BigInt(new RegExp(`${name}: +(\\d+)`).exec(info)?.[1] ?? 0) * 1024n
    await shows('[data-node="capacity"]', humanBytes(kib('MemTotal')))
    await shows('[data-node="available"]', humanBytes(kib('MemAvailable')))
    await shows('[data-node="memory"]', humanBytes(kib('MemTotal') - kib('MemAvailable')))
    await shows('[data-node="psi"]', '0.3 %')
    fixture.work()
    await shows('[data-node="cpu"]', /^\d/)
  })

  test('curves: throttle events and pressure as they are now', async () => {
    let events = 0
    const timer = setInterval(() => {
      events += 300
      fixture.write(fixture.path(1), 'memory.events', `low 0\nhigh ${events}\nmax 0\noom 0\noom_kill 0`)
    }, 300)
    try {
      await show('pod/shop/db-1', '.chart')
      await expect
        .poll(async () => (await texts('.chart')).join('\n'), { timeout: 15_000 })
        .toMatch(/throttles\/s\s+[1-9]\d\d/)
    } finally {
      clearInterval(timer)
    }
    expect(await watched.page.locator('.chart canvas').count()).toBe(6)
    const drawn = await watched.page.locator('[role=img][aria-label^="Pressure"]').getAttribute('aria-label')
    expect(drawn).toContain(
      `memory ${Number(/avg10=(\S+)/.exec(fixture.read(fixture.path(1), 'memory.pressure'))?.[1]).toFixed(1)} %`,
    )
  })

  test('the log of a container', async () => {
    await show('pod/shop/db-1', '#pod-logs')
    await watched.page.getByRole('button', { name: 'app', exact: true }).click()
    await shows('.log li:first-child .text', 'db-1 app says hello')
    await shows('.log li:last-child .text', 'and red')
    // The newest line is in sight, and stays there while the log grows.
    const isAtEnd = (): Promise<boolean> =>
      watched.page.locator('.log').evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight < 4)
    await expect.poll(isAtEnd).toBe(true)
  })

  test('the page of a finding opens in place, and the last hour is asked for once', async () => {
    await show('doctor', '[data-finding]')
    await watched.page.locator('[data-finding] details.page summary').first().click()
    await shows('[data-finding] .markdown h3 >> nth=1', 'What it checks')
    const answer = await watched.page.evaluate(async () => (await fetch('/live/history')).json())
    expect(Object.keys((answer as { values: object }).values)).toContain('workingSet')
    for (const [path, status] of [
      ['..%2f..%2fREADME', 400],
      ['README', 404],
    ] as const)
      expect((await watched.page.request.get(`${served.url}/live/doctor/${path}`)).status()).toBe(status)
  })

  test('the table: phase, restarts, class and images of each pod', async () => {
    await show('overview', '[data-pod]')
    await watched.page.getByRole('button', { name: 'table' }).click()
    await shows('tr[data-pod="shop/db-1"] [data-cell="phase"]', 'Running')
    await shows('tr[data-pod="shop/db-1"] [data-cell="restarts"]', '0')
    await watched.page.keyboard.press('/')
    expect(await watched.page.evaluate(() => document.activeElement?.getAttribute('type'))).toBe('search')
    await watched.page.getByRole('button', { name: 'bars' }).click()
  })

  test('the cgroup tree: what files hold, and what ancestors leave of it', async () => {
    await show('tree', '[data-cgroup]')
    await watched.page.getByLabel('exact bytes').check()
    const rows = watched.page.locator('[data-cgroup]')
    expect(await rows.count()).toBeGreaterThan(6)
    for (let i = 0; i < (await rows.count()); i++) {
      const path = (await rows.nth(i).getAttribute('data-cgroup')) ?? ''
      for (const file of ['memory.min', 'memory.low', 'memory.high', 'memory.max'])
        expect(
          await rows.nth(i).locator(`[data-file="${file}"] .written`).innerText(),
          `${path} ${file}`,
        ).toBe(fixture.read(path, file))
    }
    // kubepods protects nothing, so nothing below is protected.
    const cell = `[data-cgroup="${fixture.path(1)}"] [data-file="memory.min"] .effective`
    await shows(cell, 'effective 0, by kubepods')
    fixture.write('/kubepods', 'memory.min', 64 * MiB)
    await shows(cell, '')
    await watched.page.getByLabel('exact bytes').uncheck()
  })

  test('calls that went through, as the server counts them', async () => {
    await show('rpcs', 'h1')
    const before = JSON.parse(await served.get('/cri/rpcs')) as { rpcs: { rpc: string; forwarded: number }[] }
    if (before.rpcs.length === 0) await shows('.empty', 'No calls yet.')
    await served.callVersion()
    await served.callVersion()
    await shows('[data-rpc="Version"] [data-column="forwarded"]', '2')
    const { rpcs } = JSON.parse(await served.get('/cri/rpcs')) as typeof before
    expect(rpcs.find((r) => r.rpc === 'Version')?.forwarded).toBe(2)
  })

  test('driver, configuration with origins, sources, doctor', async () => {
    await show('driver', 'h1')
    await shows('h1', 'Source of the cgroup driver')
    await shows('[data-driver]', /cgroupfs|systemd|unknown/)
    await show('config', '[data-setting]')
    await shows('[data-setting="cgroup-mount"] td', `${fixture.cgroupRoot} | flag --cgroup-mount`)
    await shows('[data-setting="mode"] td', 'complete | default')
    await show('metrics', '[data-endpoint]')
    await shows('[data-endpoint="/metrics/cadvisor"] td', 'the runtime, completed from cgroups | not used')
    await show('doctor', '.findings, .empty')
    await expect.poll(async () => (await texts('.remedy')).length, { timeout: 20_000 }).toBeGreaterThan(0)
  })

  test('axe finds nothing serious on any page, light or dark', async () => {
    for (const page of [
      'overview',
      'pod/shop/db-1',
      'tree',
      'driver',
      'metrics',
      'rpcs',
      'config',
      'doctor',
    ]) {
      await show(page, 'h1')
      for (const scheme of ['light', 'dark'] as const) {
        await watched.page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
        expect(await seriousProblems(watched.page), `${page}, ${scheme}`).toEqual([])
      }
    }
    await watched.page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  })

  test('the keyboard reaches every control', async () => {
    await show('overview', '[data-pod]')
    await watched.page.locator('body').focus()
    const wanted = await watched.page.locator('a[href], button, input, select').count()
    const reached = new Set<string>()
    for (let i = 0; i < wanted + 4; i++) {
      await watched.page.keyboard.press('Tab')
      reached.add(
        await watched.page.evaluate(() => {
          const at = document.activeElement
          return `${at?.tagName} ${at?.getAttribute('href') ?? ''} ${at?.textContent}`
        }),
      )
    }
    const all = await watched.page.evaluate(() =>
      [...document.querySelectorAll('a[href], button, input, select')].map(
        (at) => `${at.tagName} ${at.getAttribute('href') ?? ''} ${at.textContent}`,
      ),
    )
    expect(all.filter((one) => !reached.has(one))).toEqual([])
  })

  test('a phone shows everything without scrolling sideways', async () => {
    await watched.page.setViewportSize({ width: 360, height: 740 })
    for (const page of ['overview', 'pod/shop/db-1', 'tree', 'config', 'doctor']) {
      await show(page, 'h1')
      const wide = await watched.page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      )
      expect(wide, page).toBeLessThanOrEqual(0)
    }
    await watched.page.setViewportSize({ width: 1280, height: 900 })
  })
})

describe('keelson companion', () => {
  beforeAll(
    withBrowser(async () => {
      fixture = await createDashboardFixture({ pods: 2, psi: false })
      served = await serveCompanion(fixture)
      watched = await openPage(browser)
      await logIn(watched, () => served.loginLink())
      await watched.page.waitForSelector('[data-pod]')
    }),
  )
  afterAll(
    withBrowser(async () => {
      await watched.page.context().close()
      await served.close()
      await fixture.close()
    }),
  )

  test('a kernel without pressure: the panel says why it is empty', async () => {
    await shows('.chart .empty', /built without PSI, or booted without psi=1/)
  })

  test('intended and written values side by side, as Memory QoS plans them', async () => {
    await show('tree', '[data-cgroup]')
    const plan = JSON.parse(await served.get('/memoryqos')) as {
      rows: { path: string; files: { file: string; intended: string | null; written: string }[] }[]
    }
    const planned = plan.rows.flatMap(({ path, files }) =>
      files.flatMap((f) => (f.intended === null ? [] : [{ path, ...f }])),
    )
    expect(planned.length).toBeGreaterThan(0)
    for (const { path, file, intended } of planned) {
      const cell = `[data-cgroup="${path}"] [data-file="${file}"]`
      if ((await watched.page.locator(cell).count()) === 0) continue
      const wanted = fixture.read(path, file) === intended ? '✓ as intended' : /≠ intended/
      await shows(`${cell} .intended`, wanted)
    }
    expect(await watched.page.locator('.intended').count()).toBeGreaterThan(0)
  })

  test('sources, parity, driver and policy', async () => {
    await show('metrics', '[data-endpoint]')
    await shows('[data-endpoint="/metrics/cadvisor"] td', 'cgroups | not used')
    const names = new Set(
      [...(await served.get('/metrics/cadvisor')).matchAll(/^# TYPE (\S+)/gm)].map((m) => m[1]),
    )
    const shown = await watched.page.locator('[data-parity] b').innerText()
    const absent = await watched.page.locator('.names code').allTextContents()
    expect(absent.filter((name) => names.has(name))).toEqual([])
    expect(Number(shown)).toBeGreaterThan(10)
    await show('driver', '[data-driver]')
    await shows('[data-driver]', 'cgroupfs')
    await show('config', '[data-setting]')
    await shows('[data-setting="companion.memoryThrottlingFactor"] td', '0.9 | default')
    await show('rpcs', '.empty')
    await shows('.empty', /CRI server .*counts calls/)
  })
})
