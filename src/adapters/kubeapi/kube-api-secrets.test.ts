// Tokens, keys and passwords never reach a log line or an error, whatever fails.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClock } from '../clock/clock.js'
import { createLog } from '../log/log.js'
import { createKubeApi } from './kube-api.js'
import { type ApiUser, parseKubeconfig } from './kubeconfig.js'

const secret = 'S3CRET-token-of-this-node'
const directory = mkdtempSync(join(tmpdir(), 'keelson-secrets-'))
const lines: string[] = []
const log = createLog({ format: 'json', level: 'debug', write: (line) => void lines.push(line) })
const server = createServer((request, response) => {
  if (request.url === '/cut') return void request.socket.destroy()
  const headers = request.url === '/busy' ? { 'retry-after': '0' } : {}
  response.writeHead(request.url === '/busy' ? 429 : 403, headers).end('{"message":"no"}')
})
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => {
  server.close()
  server.closeAllConnections()
  rmSync(directory, { recursive: true })
})

const key = `-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----`
const users: Readonly<Record<string, ApiUser>> = {
  token: { token: { text: secret } },
  'token with a line break': { token: { text: `${secret}\nX: y` } },
  password: { basic: { username: 'u', password: secret } },
  'key that is none': { certificate: { text: 'CERT' }, key: { text: key } },
  plugin: {
    exec: {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: '/bin/sh',
      args: ['-c', `echo ${secret} >&2; exit 1`],
      env: { TOKEN: secret },
      provideClusterInfo: false,
    },
  },
}

for (const [name, user] of Object.entries(users))
  test(`not with a ${name}`, async () => {
    const { port } = server.address() as AddressInfo
    const errors: unknown[] = []
    for (const protocol of ['http', 'https']) {
      const access = { server: new URL(`${protocol}://127.0.0.1:${port}`), insecure: true, user }
      const api = createKubeApi({ access, clock: createClock(), log, userAgent: 'test' })
      const stop = new AbortController()
      const nothing = { replace: () => undefined, put: () => undefined, remove: () => undefined }
      const following = api.follow('/follow', {}, nothing, stop.signal)
      for (const path of ['/refused', '/cut', '/busy'])
        errors.push(
          await api
            .create(path, { metadata: { name: 'x' } }, { signal: stop.signal, timeoutMs: 300 })
            .catch((e: unknown) => e),
        )
      stop.abort()
      await following.catch((e: unknown) => errors.push(e))
      api.close()
    }
    expect(errors.length).toBeGreaterThan(5)
    expect(lines.length).toBeGreaterThan(0)
    const shown = `${inspect(errors, { depth: 20, showHidden: true })}\n${lines.join('\n')}`
    expect(shown).not.toContain(secret)
    expect(shown).not.toContain(Buffer.from(`u:${secret}`).toString('base64'))
  })

test('not when the kubeconfig itself is broken', () => {
  const path = join(directory, 'kubeconfig')
  const text = `current-context: a\nusers:\n  - name: a\n    user: {token: ${secret}, client-key-data: "${secret}"\n`
  writeFileSync(path, text)
  try {
    parseKubeconfig(text, path)
    expect.fail('it was taken')
  } catch (e) {
    expect(inspect(e, { depth: 20 })).not.toContain(secret)
  }
})
