import { expect, test } from 'vitest'
import { decideTlsPolicy } from './tls-policy.js'

test('by default TLS 1.2 and later, forward secrecy and authenticated encryption only', () => {
  const { ciphers, dropped, minVersion } = decideTlsPolicy('', [])
  expect(minVersion).toBe('TLSv1.2')
  expect(dropped).toEqual([])
  for (const name of ciphers)
    expect(name).toMatch(/^(TLS_(AES|CHACHA20)|ECDHE-(ECDSA|RSA)-(AES\d+-GCM|CHACHA20))/)
})

test('the list of a hardening guide: what is modern is kept, in its order, the rest is named', () => {
  const guide = [
    'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
    'TLS_RSA_WITH_AES_256_GCM_SHA384',
    'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
  ]
  expect(decideTlsPolicy('VersionTLS12', guide)).toEqual({
    minVersion: 'TLSv1.2',
    ciphers: [
      'TLS_AES_128_GCM_SHA256',
      'TLS_AES_256_GCM_SHA384',
      'TLS_CHACHA20_POLY1305_SHA256',
      'ECDHE-RSA-AES256-GCM-SHA384',
      'ECDHE-ECDSA-AES128-GCM-SHA256',
    ],
    groups: [],
    dropped: ['TLS_RSA_WITH_AES_256_GCM_SHA384'],
  })
})

test.each([
  ['VersionTLS10', []],
  ['VersionTLS11', []],
  ['constructor', []],
  ['VersionTLS12', ['TLS_RSA_WITH_RC4_128_SHA']],
  ['VersionTLS12', ['toString']],
])('refused: %s %j', (version, suites) => {
  expect(() => decideTlsPolicy(version, suites)).toThrow(expect.objectContaining({ code: 'config.invalid' }))
})

test('key exchanges are numbers: those that are known are kept, the others named, none left is an error', () => {
  expect(decideTlsPolicy('', [], [29, 4588, 23, 29])).toMatchObject({
    groups: ['X25519', 'P-256'],
    dropped: ['key exchange 4588'],
  })
  expect(() => decideTlsPolicy('', [], [4588])).toThrow(/tlsCurvePreferences: none of 4588 is supported/)
})

test('TLS 1.3 alone can be asked for', () => {
  expect(decideTlsPolicy('VersionTLS13', []).minVersion).toBe('TLSv1.3')
})
