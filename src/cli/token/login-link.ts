// A link that logs a browser in once, asked of a server of this machine with its local token.
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import type { Command } from 'commander'
import { readLocalToken } from '../../adapters/secrets/local-token.js'
import { keelsonError } from '../../core/errors.js'
import { defaultSettings } from '../../serve/settings.js'
import { defaultServer, rootsNodeHint } from '../pods/find-kubelet.js'
import { findRunning } from '../up/running.js'

export interface ServerOptions {
  readonly rootDir?: string
  readonly tokenFile?: string
  readonly certificate?: string
}

const standard = defaultSettings('kubelet', '')
/** The self-signed certificate of the process on this port. */
const ownCertificates: Readonly<Record<string, string>> = {
  '10251': `${standard.certDirectory}/companion.crt`,
  '10252': `${standard.certDirectory}/cri.crt`,
}
const kubeletCertificate = '/var/lib/kubelet/pki/kubelet.crt'
const timeoutMs = 10_000
const maxAnswer = 4096

export const withServer = (command: Command): Command =>
  command
    .option(
      '--root-dir <path>',
      '--root-dir of the kubelet, with its token and certificate (default: a running keelson up)',
    )
    .option('--token-file <path>', `file of the token (default: ${standard.localTokenFile})`)
    .option('--certificate <path>', 'certificate of the server or its CA')

/** Flags, else a running `keelson up` of this user; a URL of another port is another server. */
export function findServer(
  given: ServerOptions,
  url: string | undefined,
): ServerOptions & { readonly url: string } {
  const running = findRunning()
  const runningUrl = running === undefined ? undefined : `https://127.0.0.1:${running.port}`
  const isNamed = given.rootDir !== undefined || given.tokenFile !== undefined
  const isOther = url !== undefined && (!URL.canParse(url) || new URL(url).origin !== runningUrl)
  if (running === undefined || runningUrl === undefined || isNamed || isOther)
    return { ...given, url: url ?? defaultServer }
  return { ...given, rootDir: running.rootDir, url: url ?? runningUrl }
}

export function requireToken({ rootDir, tokenFile }: ServerOptions): string {
  const file = tokenFile ?? (rootDir === undefined ? standard.localTokenFile : `${rootDir}/keelson-token`)
  const token = readLocalToken(file)
  if (token !== undefined) return token
  throw keelsonError(
    'input.unreadable',
    `read token file ${file}: no such file; the first server that starts creates it${rootsNodeHint()}`,
    { path: file },
  )
}

export async function loginLink(options: ServerOptions & { readonly url: string }): Promise<string> {
  const url = parseServer(options.url)
  const token = requireToken(options)
  const certificate =
    options.certificate ??
    (options.rootDir === undefined ? undefined : `${options.rootDir}/pki/kubelet.crt`) ??
    ownCertificates[url.port] ??
    kubeletCertificate
  return askForTicket(url, token, readCa(certificate))
}

function readCa(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw keelsonError(
      'input.unreadable',
      `read certificate ${path}: name the certificate of the server with --certificate`,
      { path },
      cause,
    )
  }
}

/** Asks the server for a one-time ticket; the token goes only to a server that shows the expected certificate. */
function askForTicket(url: URL, token: string, ca: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const failed = (why: string, cause?: unknown): void =>
      reject(keelsonError('request.invalid', `request a login link from ${url.origin}: ${why}`, {}, cause))
    const req = request(
      new URL('/login', url),
      { method: 'POST', ca, headers: { authorization: `Bearer ${token}` }, timeout: timeoutMs },
      (res) => {
        let text = ''
        res.setEncoding('utf8')
        res.on('data', (part: string) => {
          text += part
          if (text.length > maxAnswer) req.destroy(new Error('the response is too long'))
        })
        res.on('end', () => {
          if (res.statusCode !== 201)
            return failed(`response ${res.statusCode ?? 'without a status'}: ${text.trim()}`)
          const path = /"path":"(\/login\?ticket=[A-Za-z0-9_-]+)"/.exec(text)?.[1]
          if (path === undefined) return failed('the response has no link')
          resolve(new URL(path, url).href)
        })
      },
    )
    req.on('timeout', () => req.destroy(new Error(`no response within ${timeoutMs} ms`)))
    req.on('error', (e) => failed(e.message, e))
    req.end()
  })
}

function parseServer(text: string): URL {
  if (!URL.canParse(text) || new URL(text).protocol !== 'https:')
    throw keelsonError('usage.invalid', `${text}: give a URL such as ${defaultServer}`)
  return new URL(text)
}
