import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSelfSigned, ensureSelfSigned, isUsable, renewBeforeMs } from './self-signed.js'

const hosts = ['localhost', 'node-1', '127.0.0.1', '::1']
let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'keelson-pki-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

test('stands for every name, for a year, for servers only', async () => {
  const pair = await createSelfSigned('node-1', hosts)
  const certificate = new X509Certificate(pair.certificate)
  expect(certificate.subject).toBe('CN=node-1')
  expect(certificate.ca).toBe(false)
  expect(certificate.checkHost('node-1')).toBe('node-1')
  expect(certificate.checkHost('node-2')).toBeUndefined()
  expect(certificate.checkIP('::1')).toBe('::1')
  expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
  expect(certificate.verify(certificate.publicKey)).toBe(true)
  expect((Date.parse(certificate.validTo) - Date.now()) / 86_400_000).toBeCloseTo(365, 0)
})

test('is kept while it is good, and made anew before its end, for a new name or after damage', async () => {
  const ensure = (names: readonly string[] = hosts) => ensureSelfSigned(directory, 'kubelet', 'node-1', names)
  expect(await ensure()).toBe(true)
  expect(await ensure()).toBe(false)
  for (const name of ['kubelet.crt', 'kubelet.key'])
    expect(statSync(join(directory, name)).mode & 0o7777).toBe(0o600)
  const pair = {
    certificate: readFileSync(join(directory, 'kubelet.crt'), 'utf8'),
    key: readFileSync(join(directory, 'kubelet.key'), 'utf8'),
  }
  const endMs = Date.parse(new X509Certificate(pair.certificate).validTo)
  expect(isUsable(pair, hosts, endMs - renewBeforeMs - 1000)).toBe(true)
  expect(isUsable(pair, hosts, endMs - renewBeforeMs + 1000)).toBe(false)
  expect(await ensure([...hosts, 'node-1.example'])).toBe(true)
  writeFileSync(join(directory, 'kubelet.key'), 'broken')
  expect(await ensure()).toBe(true)
  const other = await createSelfSigned('node-1', hosts)
  writeFileSync(join(directory, 'kubelet.key'), other.key)
  expect(await ensure()).toBe(true)
})
