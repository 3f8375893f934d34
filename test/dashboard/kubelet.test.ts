// The dashboard of `keelson kubelet` on this host, whichever cgroups it has: driver, settings with origins, sources, and the
// reasons where there is nothing to show.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { runtimeConfig } from '../../src/fakes/cri/shapes.js'
import { type KubeletProcess, onThisHost, startKubeletProcess } from '../kubelet/kubelet-process.js'
import { ask } from '../serve/client.js'
import { type Bundle, bundleCommand } from '../support/command.js'
import { hostHasCgroupV2, requires } from '../support/requirements.js'
import { logIn, openBrowser, openPage, type WatchedPage, withBrowser } from './browser.js'

let browser: Browser
let bundle: Bundle
let kubelet: KubeletProcess
let watched: WatchedPage
beforeEach((ctx) => requires(ctx, { root: true, commands: ['chromium'] }))
beforeAll(
  withBrowser(async () => {
    if (process.getuid?.() !== 0) return
    bundle = await bundleCommand()
    kubelet = await startKubeletProcess(bundle.main, {
      scripts: {
        RuntimeConfig: runtimeConfig.cgroupfs,
        ListPodSandbox: { value: { items: [] } },
        ListContainers: { value: { containers: [] } },
      },
      flags: ['--max-pods=77', ...onThisHost(36)],
    })
    await kubelet.says('the kubelet is up')
    browser = await openBrowser()
    watched = await openPage(browser)
    const token = readFileSync(join(kubelet.directory, 'keelson-token'), 'utf8').trim()
    await logIn(watched, async () => {
      const told = await ask({ port: kubelet.port, method: 'POST', path: '/login', token })
      return `https://127.0.0.1:${kubelet.port}${(JSON.parse(told.body) as { path: string }).path}`
    })
  }),
)
afterAll(
  withBrowser(async () => {
    await browser?.close()
    await kubelet?.remove()
    await bundle?.remove()
  }),
)

/** Goes to the page and waits until it shows the text: whole where it is a string, a part where it is an expression. */
async function shows(page: string, selector: string, text: string | RegExp): Promise<void> {
  await watched.page.goto(`https://127.0.0.1:${kubelet.port}/#/${page}`)
  const shown = expect.poll(async () => (await watched.page.locator(selector).allInnerTexts()).join(' | '), {
    timeout: 20_000,
  })
  await (typeof text === 'string' ? shown.toBe(text) : shown.toMatch(text))
}

test('the driver is the one of the runtime, and so is its origin', async () => {
  await shows('driver', '.decision', /^cgroupfs\s+Reported by the runtime/)
  await shows('config', '[data-setting="cgroupDriver"] td', 'cgroupfs | runtime (RuntimeConfig)')
})

test('settings are those of /configz, with their origins', async () => {
  await shows('config', '[data-setting="maxPods"] td', '77 | flag --max-pods')
  const { kubeletconfig } = JSON.parse(await kubelet.page('/configz')) as {
    kubeletconfig: Readonly<Record<string, unknown>>
  }
  for (const name of ['port', 'podPidsLimit', 'cgroupsPerQOS', 'syncFrequency'])
    await shows('config', `[data-setting="${name}"] td:nth-child(2)`, String(kubeletconfig[name]))
})

test('no pods, sources, and why there is no table of calls', async () => {
  await shows('overview', '#main', /No pods are running on this node\./)
  await shows('metrics', '[data-endpoint]', /\/stats\/summary/)
  await shows('rpcs', '.empty', /CRI server .*counts calls/)
})

test('commands in sentences are shown as code, not with backticks', async () => {
  await shows('rpcs', '.empty code', 'keelson cri')
  expect(await watched.page.locator('.empty').innerText()).not.toContain('`')
})

test('without cgroup v2 the panels of memory.high say so', async (ctx) => {
  if (hostHasCgroupV2()) ctx.skip('this host has cgroup v2')
  await shows('overview', '.chart', /memory\.high is a file of cgroup v2/)
  await shows('tree', '.empty', /cgroup v1 has no memory\.min/)
})

test('nothing was complained about', () => expect(watched.complaints).toEqual([]))
