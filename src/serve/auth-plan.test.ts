import { expect, test } from 'vitest'
import { decideAuth } from './auth-plan.js'
import { defaultSettings } from './settings.js'

const base = defaultSettings('kubelet', 'n')
const allowAll = { authorization: { ...base.authorization, mode: 'AlwaysAllow' as const } }

test.each([
  ['nothing configured, no API server', {}, false, ['local-token'], 'local', 1],
  ['nothing configured, API server', {}, true, ['token-review'], 'Webhook', 0],
  ['client CA, API server', { clientCAFile: '/ca' }, true, ['x509', 'token-review'], 'Webhook', 0],
  ['client CA, no API server', { clientCAFile: '/ca' }, false, ['x509', 'local-token'], 'local', 1],
  ['AlwaysAllow', allowAll, true, ['token-review'], 'AlwaysAllow', 1],
  [
    'AlwaysAllow for anonymous callers',
    { ...allowAll, anonymous: true },
    true,
    ['token-review'],
    'AlwaysAllow',
    1,
  ],
  ['no way in', { tokenReview: { enabled: false, cacheTtlMs: 0 } }, true, [], 'Webhook', 1],
  [
    'webhook off, no API server',
    { tokenReview: { enabled: false, cacheTtlMs: 0 } },
    false,
    ['local-token'],
    'local',
    1,
  ],
] as const)('%s', (_, settings, hasApiServer, authenticators, authorizer, warnings) => {
  const plan = decideAuth({ ...base, ...settings }, hasApiServer)
  expect(plan).toMatchObject({ authenticators, authorizer })
  expect(plan.warnings).toHaveLength(warnings)
})

test('unknown tokens are ignored only where anonymous is on and the webhook is off', () => {
  const ignored = (anonymous: boolean, enabled: boolean) =>
    [true, false].map(
      (hasApiServer) =>
        decideAuth({ ...base, anonymous, tokenReview: { enabled, cacheTtlMs: 0 } }, hasApiServer)
          .ignoresUnknownTokens,
    )
  expect(ignored(true, false)).toEqual([true, true])
  for (const [anonymous, enabled] of [
    [true, true],
    [false, true],
    [false, false],
  ] as const)
    expect(ignored(anonymous, enabled)).toEqual([false, false])
})

test('Webhook without an API server is warned about by name, with the remedy', () => {
  expect(decideAuth(base, false).warnings[0]).toMatch(
    /^authorization\.mode is Webhook .*system:masters.*--kubeconfig$/,
  )
  expect(decideAuth({ ...base, ...allowAll }, false).warnings.join()).not.toContain('Webhook')
})
