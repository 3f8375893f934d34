import { describe, expect, test } from 'vitest'
import { repositoryOf, withTag } from './image-name.js'
import { lookUp, readDockerConfig } from './keyring.js'
import { readProviderConfig } from './provider-config.js'
import { formatProviderRequest, readProviderResponse } from './provider-response.js'
import { createPullRate } from './pull-rate.js'
import { matchesImage } from './url-match.js'

const digest = `sha256:${'0'.repeat(64)}`

for (const [image, repository, tagged] of [
  ['busybox', 'docker.io/library/busybox', 'busybox:latest'],
  ['team/web:1', 'docker.io/team/web', 'team/web:1'],
  ['index.docker.io/team/web', 'docker.io/team/web', 'index.docker.io/team/web:latest'],
  ['localhost/web', 'localhost/web', 'localhost/web:latest'],
  ['r.example.com:5000/a/b:2', 'r.example.com:5000/a/b', 'r.example.com:5000/a/b:2'],
  [`r.example.com/a@${digest}`, 'r.example.com/a', `r.example.com/a@${digest}`],
  [`r.example.com/a:1@${digest}`, 'r.example.com/a', `r.example.com/a:1@${digest}`],
] as const)
  test(`the name ${image}`, () => {
    expect(repositoryOf(image)).toBe(repository)
    expect(withTag(image)).toBe(tagged)
  })

for (const [pattern, image, matches] of [
  ['r.example.com', 'r.example.com/a', true],
  ['r.example.com/a', 'r.example.com/ab', true],
  ['r.example.com/b', 'r.example.com/a', false],
  ['*.example.com', 'r.example.com/a', true],
  ['*.example.com', 'a.b.example.com/a', false],
  ['r*x?.*.com', 'rabxy.foo.com', true],
  ['*.*.com', 'example.com', false],
  ['r.example.com:5000', 'r.example.com:5000/a', true],
  ['r.example.com:5000', 'r.example.com/a', false],
  ['127.0.0.1:5000', '127.0.0.1:5000/private/a', true],
] as const)
  test(`${pattern} is ${matches ? '' : 'not '}for ${image}`, () =>
    expect(matchesImage(pattern, image)).toBe(matches))

test('a long pattern of stars takes no long time', () => {
  const began = performance.now()
  expect(matchesImage(`${'*a'.repeat(200)}b`, `${'a'.repeat(2_000)}c`)).toBe(false)
  expect(performance.now() - began).toBeLessThan(1_000)
})

describe('docker configurations', () => {
  const auth = Buffer.from('user:pass:word').toString('base64')

  test('auth counts more than user and password; a colon may be in the password', () => {
    const text = JSON.stringify({
      auths: { 'https://r.example.com/v2/': { auth, username: 'x' }, b: { username: 'u', password: 'p' } },
    })
    expect(readDockerConfig(text, 'dockerconfigjson')).toEqual([
      ['https://r.example.com/v2/', { username: 'user', password: 'pass:word' }],
      ['b', { username: 'u', password: 'p' }],
    ])
    expect(readDockerConfig(JSON.stringify({ b: { auth } }), 'dockercfg')).toEqual([
      ['b', { username: 'user', password: 'pass:word' }],
    ])
  })

  for (const [name, text] of [
    ['no JSON', 'x'],
    ['a list', '[]'],
    ['auths of another kind', '{"auths": 1}'],
    ['an auth without a colon', '{"auths": {"a": {"auth": "eA=="}}}'],
  ] as const)
    test(`${name}: not one`, () => expect(readDockerConfig(text, 'dockerconfigjson')).toBeUndefined())

  const of = (...places: readonly string[]) =>
    places.map((place) => [place, { username: place, password: '' }] as const)
  for (const [name, places, repository, users] of [
    [
      'the most specific place first',
      ['r.io', 'r.io/a', 'https://r.io/v1/', 'x.io'],
      'r.io/a/b',
      ['r.io/a', 'r.io', 'https://r.io/v1/'],
    ],
    [
      'the default registry',
      ['https://index.docker.io/v1/'],
      'docker.io/library/x',
      ['https://index.docker.io/v1/'],
    ],
    ['none', ['x.io'], 'r.io/a', []],
  ] as const)
    test(name, () => expect(lookUp(of(...places), repository).map(({ username }) => username)).toEqual(users))
})

describe('credential providers', () => {
  const provider = {
    name: 'plugin',
    apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
    matchImages: ['*.example.com'],
    defaultCacheDuration: '10m',
    args: ['get'],
    env: [{ name: 'A', value: 'b' }],
  }
  const document = (...providers: readonly object[]) => ({
    apiVersion: 'kubelet.config.k8s.io/v1',
    kind: 'CredentialProviderConfig',
    providers,
  })

  test('a configuration', () => {
    expect(readProviderConfig([document(provider)])).toEqual({
      problems: [],
      providers: [
        {
          name: 'plugin',
          apiVersion: provider.apiVersion,
          matchImages: ['*.example.com'],
          defaultCacheNanos: 600_000_000_000n,
          args: ['get'],
          env: [{ name: 'A', value: 'b' }],
        },
      ],
    })
  })

  for (const [name, documents, path] of [
    ['another kind', [{ ...document(provider), kind: 'Pod' }], 'kind'],
    ['no plugin', [document()], 'providers'],
    ['a name with a slash', [document({ ...provider, name: '../x' })], 'providers[0].name'],
    ['no patterns', [document({ ...provider, matchImages: [] })], 'providers[0].matchImages'],
    [
      'no duration',
      [document({ ...provider, defaultCacheDuration: 5 })],
      'providers[0].defaultCacheDuration',
    ],
    ['an unknown version', [document({ ...provider, apiVersion: 'v9' })], 'providers[0].apiVersion'],
    ['the same name twice', [document(provider), document(provider)], 'providers[0].name'],
    ['tokens', [document({ ...provider, tokenAttributes: {} })], 'providers[0].tokenAttributes'],
  ] as const)
    test(`${name} is refused`, () =>
      expect(readProviderConfig(documents).problems.map((p) => p.path)).toEqual([path]))

  const { apiVersion } = provider
  const response = {
    apiVersion,
    kind: 'CredentialProviderResponse',
    cacheKeyType: 'Registry',
    cacheDuration: '5s',
    auth: { 'r.example.com': { username: 'u', password: 'p' } },
  }
  test('request and response', () => {
    expect(JSON.parse(formatProviderRequest(apiVersion, 'r.example.com/a'))).toEqual({
      apiVersion,
      kind: 'CredentialProviderRequest',
      image: 'r.example.com/a',
    })
    expect(readProviderResponse(JSON.stringify(response), apiVersion)).toEqual({
      credentials: [['r.example.com', { username: 'u', password: 'p' }]],
      cacheKeyType: 'Registry',
      cacheNanos: 5_000_000_000n,
    })
  })

  for (const [name, text] of [
    ['no JSON', 'secret'],
    ['another version', JSON.stringify({ ...response, apiVersion: 'v9' })],
    ['another kind', JSON.stringify({ ...response, kind: 'Pod' })],
    ['another cache', JSON.stringify({ ...response, cacheKeyType: 'x' })],
    ['another duration', JSON.stringify({ ...response, cacheDuration: 'x' })],
  ] as const)
    test(`${name} is no answer, and nothing of it is said`, () => {
      const problem = readProviderResponse(text, apiVersion)
      expect(problem).toEqual(expect.any(String))
      expect(problem).not.toContain('secret')
    })
})

test('pulls: so many at once, then so many a second; 0 is no limit', () => {
  const rate = createPullRate(2, 3)
  const second = 1_000_000_000n
  expect([0n, 0n, 0n, 0n].map((now) => rate.tryTake(now))).toEqual([true, true, true, false])
  expect([second, second, second].map((now) => rate.tryTake(now))).toEqual([true, true, false])
  const free = createPullRate(0, 0)
  expect(free.tryTake(0n)).toBe(true)
})
