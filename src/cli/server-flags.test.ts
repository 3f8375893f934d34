import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { flagTable } from '../config/flag-table.js'
import { isKeelsonError } from '../core/errors.js'
import { defaultSettings, type ServeSettings } from '../serve/settings.js'
import { addServerOptions, checkServerFlags, type ServerFlags, serverSettings } from './server-flags.js'

function settingsOf(process: 'companion' | 'cri', ...argv: string[]): ServeSettings {
  const command = addServerOptions(new Command('x').exitOverride(), process)
    .configureOutput({ writeErr: () => undefined })
    .action(() => undefined)
  const flags = command.parse(argv, { from: 'user' }).opts<ServerFlags>()
  checkServerFlags(flags)
  return serverSettings(flags, process, 'node-1')
}

test.each(['companion', 'cri'] as const)('%s: no flag, no change of the closed defaults', (process) => {
  expect(settingsOf(process)).toEqual(defaultSettings(process, 'node-1'))
})

test('every flag reaches its setting', () => {
  const given = settingsOf(
    'cri',
    ...['--address=10.0.0.1', '--port=1', '--healthz-bind-address=::1', '--healthz-port=2'],
    ...[
      '--tls-cert-file=/c',
      '--tls-private-key-file=/k',
      '--cert-dir=/pki',
      '--tls-min-version=VersionTLS13',
    ],
    '--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
    ...['--client-ca-file=/ca', '--anonymous-auth', '--authentication-token-webhook=false'],
    ...['--authentication-token-webhook-cache-ttl=1m', '--authorization-mode=AlwaysAllow'],
    ...[
      '--authorization-webhook-cache-authorized-ttl=2s',
      '--authorization-webhook-cache-unauthorized-ttl=300ms',
    ],
    '--token-file=/t',
  )
  expect(given).toEqual({
    ...defaultSettings('cri', 'node-1'),
    address: '10.0.0.1',
    port: 1,
    healthzAddress: '::1',
    healthzPort: 2,
    tlsCertFile: '/c',
    tlsPrivateKeyFile: '/k',
    certDirectory: '/pki',
    tlsMinVersion: 'VersionTLS13',
    tlsCipherSuites: ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256'],
    clientCAFile: '/ca',
    anonymous: true,
    tokenReview: { enabled: false, cacheTtlMs: 60_000 },
    authorization: { mode: 'AlwaysAllow', allowTtlMs: 2000, denyTtlMs: 300 },
    localTokenFile: '/t',
  })
})

test('names are those of the upstream kubelet, and no flag opens a read-only port', () => {
  const names = addServerOptions(new Command('x'), 'cri').options.map((o) => o.long?.slice(2) ?? '')
  // The local token is ours alone.
  expect(names.filter((name) => !Object.hasOwn(flagTable, name))).toEqual(['token-file'])
  expect(names).not.toContain('read-only-port')
})

describe('refused', () => {
  for (const [flags, why] of [
    [['--port=70000'], '--port 70000: use 0 to 65535'],
    [['--healthz-port=x'], '--healthz-port x: use 0 to 65535'],
    [['--port=5', '--healthz-port=5'], '--healthz-port 5: it is also --port; choose another'],
    [['--anonymous-auth=maybe'], '--anonymous-auth maybe: use true or false'],
    [['--authentication-token-webhook-cache-ttl=120'], 'cache-ttl 120: use a duration such as 2m0s'],
    [['--authorization-webhook-cache-authorized-ttl=-1s'], 'authorized-ttl -1s: use a duration such as 2m0s'],
    [['--tls-cert-file=/c'], '--tls-cert-file and --tls-private-key-file: give both or none'],
    [
      ['--tls-cipher-suites=TLS_RSA_WITH_AES_128_CBC_SHA'],
      'none of TLS_RSA_WITH_AES_128_CBC_SHA is supported',
    ],
  ] as const)
    test(flags.join(' '), () => {
      const refused = (() => {
        try {
          return settingsOf('cri', ...flags)
        } catch (e) {
          return e
        }
      })()
      expect(isKeelsonError(refused)).toBe(true)
      expect(refused).toMatchObject({ message: expect.stringContaining(why) })
    })

  test('a mode or a version that does not exist', () => {
    expect(() => settingsOf('cri', '--authorization-mode=RBAC')).toThrow(
      /Allowed choices are Webhook, AlwaysAllow/,
    )
    expect(() => settingsOf('cri', '--tls-min-version=VersionTLS10')).toThrow(/Allowed choices/)
  })
})
