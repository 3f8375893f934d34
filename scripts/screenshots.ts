/// <reference lib="dom" />
// `npm run screenshots`: starts a node in the lab, waits until the charts have something to show, and takes the pictures of
// docs/screenshots with Debian's Chromium. Needs what the lab needs (docs/lab.md).
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LiveSnapshot } from '../src/core/live-model.js'
import { logIn, openBrowser, openPage, type PageOptions } from '../test/dashboard/browser.js'
import { startUpNode } from '../test/dashboard/up-node.js'

const directory = join(import.meta.dirname, '../docs/screenshots')
const looks: Readonly<Record<string, PageOptions>> = {
  light: { width: 1200, height: 1150 },
  dark: { width: 1200, height: 1150, dark: true },
  phone: { width: 390, height: 844, scale: 2 },
}
/** Long enough for a curve. */
const fillMs = 90_000

const node = await startUpNode()
const browser = await openBrowser()
try {
  const pages = await Promise.all(
    Object.entries(looks).map(async ([look, options]) => {
      const { page } = await openPage(browser, options)
      await logIn({ page }, () => node.loginLink())
      return { look, page }
    }),
  )
  await sleep(fillMs)
  const { pods } = JSON.parse(await node.get('/live/snapshot')) as LiveSnapshot
  const job = pods.find((p) => p.name.startsWith('import-job'))?.name ?? ''
  for (const [name, route] of [
    ['overview', 'overview'],
    ['pod', `pod/default/${job}`],
    ['tree', 'tree'],
  ])
    for (const { look, page } of pages) {
      await page.goto(`${node.url}/#/${route}`)
      await sleep(1_500)
      // The moment in which the pod is throttled is the one to show.
      if (name !== 'tree')
        await page
          .waitForFunction(() => document.body.innerText.includes('throttled now'), undefined, {
            timeout: 60_000,
          })
          .catch(() => undefined)
      const file = join(directory, `${name}-${look}.png`)
      await page.screenshot({ path: file })
      console.log(file)
    }
} finally {
  await browser.close()
  await node.close()
}
