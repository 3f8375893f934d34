// Debian's Chromium, driven from a test: a fresh profile, no network but ours, and every word of its console kept.
import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'

const binary = '/usr/bin/chromium'
export const hasBrowser = (): boolean => existsSync(binary)

/** For hooks, which run before a missing browser can skip the tests. */
export const withBrowser = (work: () => Promise<void>) => async (): Promise<void> => {
  if (hasBrowser()) await work()
}

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: binary,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })

/** Chromium drops requests when a network interface comes or goes, as with every pod that another test starts. */
const isOfTheMachine = (text: string): boolean => text.includes('net::ERR_NETWORK_CHANGED')

export interface WatchedPage {
  readonly page: Page
  /** Errors and warnings of the console, and exceptions. */
  readonly complaints: string[]
  /** Addresses that were asked for. */
  readonly requests: string[]
  /** Bytes that came over the line for the page's own files. */
  weight(): number
}

export interface PageOptions {
  readonly width?: number
  readonly height?: number
  readonly dark?: boolean
  /** Pixels of the device for one of the page. */
  readonly scale?: number
}

export async function openPage(browser: Browser, options: PageOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    viewport: { width: options.width ?? 1280, height: options.height ?? 900 },
    colorScheme: options.dark === true ? 'dark' : 'light',
    reducedMotion: 'reduce',
    deviceScaleFactor: options.scale ?? 1,
  })
  const page = await context.newPage()
  const complaints: string[] = []
  const requests: string[] = []
  let bytes = 0
  page.on('console', (message) => {
    if ((message.type() === 'error' || message.type() === 'warning') && !isOfTheMachine(message.text()))
      complaints.push(`${message.text()} ${message.location().url}`)
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('request', (request) => requests.push(request.url()))
  page.on('response', (response) => {
    const path = new URL(response.url()).pathname
    if (path === '/' || path.startsWith('/dashboard/'))
      bytes += Number(response.headers()['content-length'] ?? Number.NaN)
  })
  return { page, complaints, requests, weight: () => bytes }
}

/** Follows a login link until the first picture is there. */
export async function logIn({ page }: Pick<WatchedPage, 'page'>, link: () => Promise<string>): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      await page.goto(await link())
      await page.waitForSelector('.cards', { timeout: 20_000 })
      return
    } catch (e) {
      // The page's own files may have been among what Chromium dropped.
      if (tries === 3) throw e
    }
}
