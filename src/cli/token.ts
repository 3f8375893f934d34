// `keelson token`: prints the local token of this machine, or a link that logs a browser in once.
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { Command } from 'commander'
import { readLocalToken } from '../adapters/secrets/local-token.js'
import { keelsonError } from '../core/errors.js'
import { defaultSettings } from '../serve/settings.js'
import type { Io } from './io.js'
import { addAlias } from './option-alias.js'

interface TokenOptions {
  readonly rootDir?: string
  readonly tokenFile?: string
  readonly login?: string
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
    throw keelsonError('usage.invalid', `--login ${text}: give a URL such as https://127.0.0.1:10250`)
  return new URL(text)
}

export const create = (io: Io): Command => addAlias(tokenCommand(io), '--file', '--token-file')

const tokenCommand = (io: Io): Command =>
  new Command('token')
    .description(
      'Print the local token. It gives access to the servers of this machine when no API server is configured.\n\n' +
        '  curl -k -H "Authorization: Bearer $(keelson token)" https://127.0.0.1:10250/metrics\n' +
        '  keelson token --login https://127.0.0.1:10250',
    )
    .option('--root-dir <path>', '--root-dir of the kubelet, with its token and certificate')
    .option('--token-file <path>', `file of the token (default: ${standard.localTokenFile})`)
    .option('--login <url>', 'print a login link for a browser instead; valid once, for one minute')
    .option('--certificate <path>', 'certificate of the server or its CA, for --login')
    .action(async ({ rootDir, login, ...given }: TokenOptions) => {
      const file =
        given.tokenFile ?? (rootDir === undefined ? standard.localTokenFile : `${rootDir}/keelson-token`)
      const certificate =
        given.certificate ?? (rootDir === undefined ? undefined : `${rootDir}/pki/kubelet.crt`)
      const server = login === undefined ? undefined : parseServer(login)
      const token = readLocalToken(file)
      if (token === undefined)
        throw keelsonError(
          'input.unreadable',
          `read token file ${file}: no such file; the first server that starts creates it`,
          {
            path: file,
          },
        )
      if (server === undefined) io.stdout.write(`${token}\n`)
      else
        io.stdout.write(
          `${await askForTicket(server, token, readCa(certificate ?? ownCertificates[server.port] ?? kubeletCertificate))}\n`,
        )
    })
