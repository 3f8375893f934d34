/// <reference lib="dom" />
// The pictures of docs/screenshots, taken from a node in the lab once its charts have something to show.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { logIn, openPage, type PageOptions } from './browser.js'
import type { UpNode } from './up-node.js'

export const screenshotDirectory = join(import.meta.dirname, '../../docs/screenshots')

/** One page for light and dark: a machine in the lab has one slow processor, and every page is a watcher. */
const desk: PageOptions = { width: 1200, height: 1100 }
const phone: PageOptions = { width: 390, height: 844, scale: 2 }
/** Long enough for a curve. */
const fillMs = 25_000
/** The moment in which a pod is throttled is the one to show. */
const momentMs = 30_000

/** `pod`: the one that is throttled. */
export async function takeScreenshots(
  node: Pick<UpNode, 'url' | 'loginLink'>,
  browser: Browser,
  pod: string,
  namespace = 'default',
): Promise<string[]> {
  mkdirSync(screenshotDirectory, { recursive: true })
  const routes = [
    ['overview', 'overview'],
    ['pod', `pod/${namespace}/${pod}`],
    ['tree', 'tree'],
  ] as const
  const files: string[] = []

  async function shoot(page: Page, look: string, scheme: 'light' | 'dark'): Promise<void> {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
    for (const [name, route] of routes) {
      await page.goto(`${node.url}/#/${route}`)
      await page.waitForSelector('h1')
      await sleep(1_000)
      if (name !== 'tree')
        await page.waitForFunction(() => document.body.innerText.includes('throttled now'), undefined, {
          timeout: momentMs,
        })
      const path = join(screenshotDirectory, `${name}-${look}.png`)
      await page.screenshot({ path })
      files.push(path)
    }
  }
  async function withPage(options: PageOptions, run: (page: Page) => Promise<void>): Promise<void> {
    const { page } = await openPage(browser, options)
    await logIn({ page }, () => node.loginLink())
    await sleep(fillMs)
    await run(page)
    await page.context().close()
  }

  await withPage(desk, async (page) => {
    await shoot(page, 'light', 'light')
    await shoot(page, 'dark', 'dark')
  })
  await withPage(phone, (page) => shoot(page, 'phone', 'light'))
  return files
}
