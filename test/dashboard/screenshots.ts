/// <reference lib="dom" />
// The pictures of docs/screenshots, taken from a node in the lab once its charts have something to show.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser } from 'playwright-core'
import { logIn, openPage, type PageOptions } from './browser.js'
import type { UpNode } from './up-node.js'

export const screenshotDirectory = join(import.meta.dirname, '../../docs/screenshots')

const looks: Readonly<Record<string, PageOptions>> = {
  light: { width: 1200, height: 1100 },
  dark: { width: 1200, height: 1100, dark: true },
  phone: { width: 390, height: 844, scale: 2 },
}
/** Long enough for a curve. */
const fillMs = 45_000
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
  const pages = await Promise.all(
    Object.entries(looks).map(async ([look, options]) => {
      const { page } = await openPage(browser, options)
      await logIn({ page }, () => node.loginLink())
      return { look, page }
    }),
  )
  await sleep(fillMs)
  const files: string[] = []
  for (const [name, route] of [
    ['overview', 'overview'],
    ['pod', `pod/${namespace}/${pod}`],
    ['tree', 'tree'],
  ])
    for (const { look, page } of pages) {
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
  for (const { page } of pages) await page.context().close()
  return files
}
