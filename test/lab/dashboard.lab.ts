// The dashboard of a real kubelet on a real kernel: what Chromium shows against what the cgroup files hold, read from inside
// the containers.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { LiveSnapshot } from '../../src/core/dashboard/model.js'
import { needsOf } from '../../src/lab/packages.js'
import { hasBrowser, logIn, openBrowser, openPage, type WatchedPage } from '../dashboard/browser.js'
import { takeScreenshots } from '../dashboard/screenshots.js'
import { startUpNode, type UpNode, works } from '../dashboard/up-node.js'
import { missingRequirement, requires } from '../support/requirements.js'

const MiB = 1024 * 1024
const needs = { root: true, commands: ['chromium'], packages: needsOf('uml', true) }
const isPossible = missingRequirement(needs) === undefined && hasBrowser()
let node: UpNode
let browser: Browser
let watched: WatchedPage

beforeEach((ctx) => requires(ctx, needs))

describe('a node in the lab', () => {
  beforeAll(async () => {
    if (!isPossible) return
    node = await startUpNode()
    browser = await openBrowser()
    watched = await openPage(browser)
    await logIn(watched, () => node.loginLink())
  })
  afterAll(async () => {
    if (!isPossible) return
    await browser.close()
    await node.close()
  })

  const known = new Map<string, string>()
  const fullName = async (pod: string): Promise<string> => {
    const name = known.get(pod)
    if (name !== undefined) return name
    const { pods } = JSON.parse(await node.get('/live/snapshot')) as LiveSnapshot
    const found = pods.find((p) => p.name.startsWith(pod))
    if (found === undefined) throw new Error(`no pod ${pod}`)
    known.set(pod, found.name)
    return found.name
  }
  /** As the container itself reads it: its cgroup is the root of what it sees. */
  const kernel = async (pod: string, container: string, file: string): Promise<string> =>
    (await node.exec(await fullName(pod), container, ['/bin/cat', `/sys/fs/cgroup/${file}`])).trim()
  const shown = (pod: string, container: string, key: string) =>
    watched.page.locator(`[data-pod^="default/${pod}"] [data-container="${container}"] [data-file="${key}"]`)

  test('memory.min, low, high and max of every container are those of the kernel', async () => {
    const keys = ['min', 'low', 'high', 'max']
    for (const [pod, list] of Object.entries(works))
      for (const { container } of list) {
        const files = keys.map((key) => `/sys/fs/cgroup/memory.${key}`)
        const values = (await node.exec(await fullName(pod), container, ['/bin/cat', ...files]))
          .trim()
          .split('\n')
        const titles = await Promise.all(keys.map((key) => shown(pod, container, key).getAttribute('title')))
        expect(titles, `${pod} ${container}`).toEqual(
          values.map((value) => (value === 'max' ? 'no limit' : `${value} bytes`)),
        )
      }
    // Something was set at all.
    expect(await kernel('import-job', 'main', 'memory.high')).not.toBe('max')
    expect(await kernel('database', 'main', 'memory.min')).toBe(String(48 * 1024 * 1024))
  })

  test('the working set is memory.current without inactive_file, but for the command that reads them', async () => {
    const current = BigInt(await kernel('database', 'main', 'memory.current'))
    const stat = await kernel('database', 'main', 'memory.stat')
    const inactive = BigInt(/^inactive_file (\d+)/m.exec(stat)?.[1] ?? 0)
    const title = (await shown('database', 'main', 'ws').getAttribute('title')) ?? ''
    const difference = BigInt(title.replace(' bytes', '')) - (current - inactive)
    expect(Number(difference > 0n ? difference : -difference), title).toBeLessThan(2 * MiB)
    expect(current).toBeGreaterThan(BigInt(36 * MiB))
  })

  test('a pod that passes memory.high is shown as throttled while the kernel counts events', async () => {
    const events = async (): Promise<number> =>
      Number(/^high (\d+)/m.exec(await kernel('import-job', 'main', 'memory.events'))?.[1])
    const before = await events()
    await expect
      .poll(() => watched.page.locator('[data-pod^="default/import-job"] .next').innerText(), {
        timeout: 60_000,
        interval: 300,
      })
      .toMatch(/throttled now at memory\.high/)
    // What the page shows may have happened just before the first look at the file.
    await expect.poll(events, { timeout: 60_000, interval: 1_000 }).toBeGreaterThan(before)
    await expect
      .poll(async () => (await watched.page.locator('.chart').first().innerText()).replaceAll(/\s+/g, ' '), {
        timeout: 60_000,
        interval: 300,
      })
      .toMatch(/all pods [1-9]/)
  })

  test('this kernel has no pressure, and the panel says so', async () => {
    await expect(
      node.exec(await fullName('web'), 'server', ['/bin/cat', '/proc/pressure/memory']),
    ).rejects.toThrow()
    expect(await watched.page.locator('.chart .empty').innerText()).toMatch(/without PSI/)
  })

  test('driver from the runtime, settings with origins, sources, doctor, log', async () => {
    const show = async (page: string, selector: string): Promise<string> => {
      await watched.page.goto(`${node.url}/#/${page}`)
      await watched.page.waitForSelector(selector)
      return (await watched.page.locator(selector).allInnerTexts()).join(' | ')
    }
    expect(await show('driver', '.decision')).toMatch(/cgroupfs[\s\S]*Reported by the runtime/)
    expect(await show('config', '[data-setting="featureGates.MemoryQoS"]')).toMatch(/true\s+\S+:\d+/)
    expect(await show('metrics', '[data-endpoint="/metrics/cadvisor"]')).toMatch(
      /the runtime \(CRI\)|cgroups/,
    )
    expect(await show('tree', '.intended')).toContain('as intended')
    await show('doctor', '.finding, .empty')
    await show(`pod/default/${await fullName('web')}`, '#pod-logs')
    const events = watched.page.locator('section:has(> #pod-events) tbody')
    await expect.poll(() => events.innerText(), { timeout: 20_000 }).toMatch(/Normal\s+Started\s+server/)
    await watched.page.getByRole('button', { name: 'server', exact: true }).click()
    await watched.page.waitForSelector('.log li')
  })

  test('the pictures of the documentation, where `npm run screenshots` asks for them', async (ctx) => {
    if (process.env.KEELSON_SCREENSHOTS === undefined) ctx.skip('KEELSON_SCREENSHOTS is not set')
    // It would be one watcher more.
    await watched.page.goto('about:blank')
    const files = await takeScreenshots(node, browser, await fullName('import-job'))
    console.log(files.join('\n'))
    expect(files).toHaveLength(9)
  })

  test('nothing was complained about', () => expect(watched.complaints).toEqual([]))
})
