// Credential plugins as real processes.
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createExecCredentials } from './exec-credential.js'

const directory = mkdtempSync(join(tmpdir(), 'keelson-exec-'))
afterAll(() => rmSync(directory, { recursive: true }))
const apiVersion = 'client.authentication.k8s.io/v1'
const { signal } = new AbortController()

function plugin(name: string, script: string) {
  const command = join(directory, name)
  writeFileSync(command, `#!/bin/sh\n${script}\n`)
  chmodSync(command, 0o755)
  return { apiVersion, command, args: ['--cluster', 'c1'], env: { REGION: 'eu' }, provideClusterInfo: true }
}
const cluster = { server: new URL('https://10.0.0.1:6443'), insecure: false, caText: 'CA' }
const answer = (status: object): string => JSON.stringify({ apiVersion, kind: 'ExecCredential', status })

test('the plugin gets arguments, environment and the cluster; its token is kept until it expires or is refused', async () => {
  const calls = join(directory, 'calls')
  const token = answer({ token: 'tok', expirationTimestamp: '2026-01-01T00:10:00Z' })
  const made = plugin('token', `echo "$@ $REGION $KUBERNETES_EXEC_INFO" >> ${calls}; echo '${token}'`)
  let now = Date.parse('2026-01-01T00:00:00Z')
  const credentials = createExecCredentials(made, cluster, { PATH: process.env['PATH'] }, () => now)
  expect(await credentials.read(signal)).toEqual({ token: 'tok' })
  expect(await credentials.read(signal)).toEqual({ token: 'tok' })
  const asked = (): string[] => readFileSync(calls, 'utf8').trim().split('\n')
  expect(asked()).toHaveLength(1)
  expect(asked()[0]).toContain('--cluster c1 eu {"apiVersion"')
  expect(asked()[0]).toContain(
    '"interactive":false,"cluster":{"server":"https://10.0.0.1:6443/","certificate-authority-data":"Q0E="}',
  )
  now += 11 * 60_000
  await credentials.read(signal)
  expect(asked()).toHaveLength(2)
  now -= 11 * 60_000
  credentials.forget()
  await Promise.all([credentials.read(signal), credentials.read(signal)])
  expect(asked(), 'two callers, one process').toHaveLength(3)
})

test('a certificate with its key', async () => {
  const made = plugin('pair', `echo '${answer({ clientCertificateData: 'C', clientKeyData: 'K' })}'`)
  expect(await createExecCredentials(made, cluster, process.env, Date.now).read(signal)).toEqual({
    certificate: 'C',
    key: 'K',
  })
})

for (const { name, script, says } of [
  { name: 'fails', script: 'echo secret-in-stderr >&2; exit 3', says: 'status 3' },
  { name: 'prints no JSON', script: 'echo secret-in-stdout', says: 'not JSON' },
  { name: 'prints another kind', script: `echo '{"kind":"Pod"}'`, says: 'not an ExecCredential' },
  { name: 'has nothing to show', script: `echo '${answer({})}'`, says: 'neither a token' },
])
  test(`a plugin that ${name}: said without what it printed`, async () => {
    const made = plugin(name.replaceAll(' ', '-'), script)
    const failed = await createExecCredentials(made, cluster, process.env, Date.now)
      .read(signal)
      .catch((e: unknown) => e)
    expect(failed).toMatchObject({ code: 'kubeapi.kubeconfig', message: expect.stringContaining(says) })
    expect(`${String(failed)}${JSON.stringify(failed)}`).not.toContain('secret')
  })

test('a plugin that is not there', async () => {
  const made = { ...plugin('x', ''), command: join(directory, 'nowhere') }
  await expect(createExecCredentials(made, cluster, process.env, Date.now).read(signal)).rejects.toThrow(
    'there is no such program',
  )
})
