// Requests and pair files: real keys, real files, and what a crash or a full disk leaves behind.
import 'reflect-metadata' // the library that checks them wants it loaded first
import { generateKeyPairSync, webcrypto, X509Certificate } from 'node:crypto'
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pkcs10CertificateRequest, SubjectAlternativeNameExtension } from '@peculiar/x509'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Authority, createAuthority, createLeaf } from '../../../test/serve/pki.js'
import { keyType, newKey, requestName } from './keys.js'
import { createPairStore } from './pair-store.js'
import { createRequest, isRequestOf } from './signing-request.js'

const subject = { commonName: 'system:node:n1', organizations: ['system:nodes'] }

describe('requests', () => {
  // Made for this test, and used nowhere else.
  const key = `-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIMV6jzJCv5oyU1Vz2SvdsWLnoiZT/ab5kaHpQFPIyN/soAoGCCqGSM49
AwEHoUQDQgAEhPRoRMJrIKzKI3owYqO9RRnyUnrFCPsPxythbKsfJQj2YpzjZ4Ze
7g/gfENE6jFGomSTRUDr3ZI/BO7sX7N+zQ==
-----END EC PRIVATE KEY-----
`
  test('the name of a request is what a Go program makes of the same key', () => {
    expect(requestName(key, subject, ['digital signature', 'client auth'])).toBe(
      'node-csr-TuFzsfUnx_IoR63mVpwB8XyQy6AkxXvyd22WZ5iHOGk',
    )
    expect(requestName(key, { commonName: 'system:node:n1|system:nodes', organizations: [] }, [])).not.toBe(
      requestName(key, subject, []),
    )
  })

  test('a request is known by its key and its subject', async () => {
    const request = createRequest(key, subject, { dnsNames: ['n1'], ips: ['10.0.0.7', 'fd00::7'] })
    expect(isRequestOf(request, key, subject)).toBe(true)
    expect(isRequestOf(request, newKey(), subject)).toBe(false)
    expect(isRequestOf(request, key, { ...subject, commonName: 'system:node:n2' })).toBe(false)
    expect(isRequestOf(request, key, { ...subject, organizations: ['system:masters'] })).toBe(false)
    expect(isRequestOf('rubbish', key, subject)).toBe(false)
  })

  test.each([
    ['RSA', generateKeyPairSync('rsa', { modulusLength: 2048 })],
    ['P-384', generateKeyPairSync('ec', { namedCurve: 'secp384r1' })],
  ])('another library verifies a request with a key of the type %s', async (_type, { privateKey }) => {
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const names = { dnsNames: ['n1'], ips: ['10.0.0.7', 'fd00::7', 'no address'] }
    const request = new Pkcs10CertificateRequest(createRequest(pem, subject, names))
    expect(await request.verify(webcrypto as unknown as Parameters<typeof request.verify>[0])).toBe(true)
    expect(request.subject).toBe('O=system:nodes, CN=system:node:n1')
    const { rawData } = request.getExtension('2.5.29.17') ?? {}
    expect(new SubjectAlternativeNameExtension(rawData ?? Buffer.of()).names.toJSON()).toEqual([
      { type: 'dns', value: 'n1' },
      { type: 'ip', value: '10.0.0.7' },
      { type: 'ip', value: 'fd00::7' },
    ])
    expect(isRequestOf(request.toString('pem'), pem, subject)).toBe(true)
    const forged = Buffer.from(request.rawData)
    forged.writeUInt8(forged.readUInt8(forged.length - 1) ^ 1, forged.length - 1)
    expect(isRequestOf(new Pkcs10CertificateRequest(forged).toString('pem'), pem, subject)).toBe(false)
  })

  test('new keys are P-256 in the form that the upstream kubelet writes', () => {
    expect(newKey()).toMatch(/^-----BEGIN EC PRIVATE KEY-----/)
    expect(keyType(newKey())).toBe('ec')
  })
})

describe('pair files', () => {
  let directory: string
  let ca: Authority
  beforeEach(async () => {
    directory = join(mkdtempSync(join(tmpdir(), 'keelson-pairs-')), 'pki')
    ca ??= await createAuthority('cluster')
  })
  afterEach(() => rmSync(join(directory, '..'), { recursive: true, force: true }))

  const leaf = () => createLeaf(ca, { user: subject.commonName, groups: subject.organizations })
  const at = (second: number) => () => new Date(2026, 0, 2, 3, 4, second)
  const current = (): string => join(directory, 'kubelet-client-current.pem')
  const serialOf = (pem: string): string => new X509Certificate(pem).serialNumber

  test('a pair is one file, 0600, with a link to it; the next one turns the link', async () => {
    const first = await leaf()
    const second = await leaf()
    const written = await createPairStore(directory, 'kubelet-client', at(5)).write(
      first.certificate,
      first.key,
    )
    expect(written.facts).toMatchObject({ commonName: 'system:node:n1', organizations: ['system:nodes'] })
    expect(readlinkSync(current())).toBe(join(directory, 'kubelet-client-2026-01-02-03-04-05.pem'))
    expect(lstatSync(readlinkSync(current())).mode & 0o777).toBe(0o600)
    await createPairStore(directory, 'kubelet-client', at(6)).write(second.certificate, second.key)
    const text = readFileSync(current(), 'utf8')
    expect(text.indexOf('CERTIFICATE')).toBeLessThan(text.indexOf('PRIVATE KEY'))
    expect(serialOf(text)).toBe(serialOf(second.certificate))
    expect(readdirSync(directory).sort()).toEqual([
      'kubelet-client-2026-01-02-03-04-05.pem',
      'kubelet-client-2026-01-02-03-04-06.pem',
      'kubelet-client-current.pem',
    ])
  })

  test('old pairs do not pile up', async () => {
    const { certificate, key } = await leaf()
    for (let s = 0; s < 9; s++)
      await createPairStore(directory, 'kubelet-client', at(s)).write(certificate, key)
    expect(readdirSync(directory).filter((f) => /\d\.pem$/.test(f))).toHaveLength(5)
  })

  test('a pair that was written after the clock was set back stays, though its name is the oldest', async () => {
    const [one, two] = [await leaf(), await leaf()]
    for (const s of [20, 21, 22, 23, 24, 25])
      await createPairStore(directory, 'kubelet-client', at(s)).write(one.certificate, one.key)
    const store = createPairStore(directory, 'kubelet-client', at(3))
    await store.write(two.certificate, two.key)
    expect((await store.current())?.certificate.trim()).toBe(two.certificate.trim())
  })

  test('a crash before the link was renamed: the next look finishes it', async () => {
    const { certificate, key } = await leaf()
    const store = createPairStore(directory, 'kubelet-client', at(5))
    await store.write(certificate, key)
    const target = readlinkSync(current())
    rmSync(current())
    symlinkSync(target, join(directory, 'kubelet-client-updated.pem'))
    expect((await store.current())?.certificate.trim()).toBe(certificate.trim())
    // And one that was interrupted with the old link still there is taken away by the next write.
    symlinkSync('/nowhere', join(directory, 'kubelet-client-updated.pem'))
    await store.write(certificate, key)
    expect(readdirSync(directory)).not.toContain('kubelet-client-updated.pem')
  })

  test('a certificate of another key is not written', async () => {
    const [one, two] = [await leaf(), await leaf()]
    const store = createPairStore(directory, 'kubelet-client', at(5))
    await store.write(one.certificate, one.key)
    await expect(store.write(two.certificate, one.key)).rejects.toMatchObject({ code: 'tls.invalid' })
    expect((await store.current())?.certificate.trim()).toBe(one.certificate.trim())
  })

  test('a file in place of the link is an error that says so', async () => {
    mkdirSync(directory)
    writeFileSync(current(), 'of an administrator')
    const { certificate, key } = await leaf()
    await expect(
      createPairStore(directory, 'kubelet-client', at(5)).write(certificate, key),
    ).rejects.toMatchObject({
      code: 'file.write-failed',
      message: expect.stringContaining('is a file, not a link'),
    })
    expect(readFileSync(current(), 'utf8')).toBe('of an administrator')
  })

  test('what is no pair is none: damage, half a file, nothing', async () => {
    const { certificate } = await leaf()
    const store = createPairStore(directory, 'kubelet-client', at(5))
    expect(await store.current()).toBeUndefined()
    mkdirSync(directory, { recursive: true })
    for (const text of ['', 'rubbish', certificate, `${certificate}${newKey()}`]) {
      writeFileSync(current(), text)
      expect(await store.current()).toBeUndefined()
    }
  })

  test('the key of a request stays the same until it is forgotten; a damaged one is replaced', async () => {
    const store = createPairStore(directory, 'kubelet-client', at(5))
    const key = await store.pendingKey()
    const path = join(directory, 'kubelet-client.key.tmp')
    expect(lstatSync(path).mode & 0o777).toBe(0o600)
    expect(await createPairStore(directory, 'kubelet-client').pendingKey()).toBe(key)
    writeFileSync(path, 'half')
    expect(keyType(await store.pendingKey())).toBe('ec')
    await store.forgetPendingKey()
    expect(readdirSync(directory)).toEqual([])
  })
})
