// Plugins as real programs: what they are told, how long their answers count, and what becomes of those that fail.
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createPrograms } from '../../adapters/programs/programs.js'
import { FakeClock } from '../../fakes/clock.js'
import { FakeLog } from '../../fakes/log.js'
import { createCredentialProviders } from './credential-providers.js'

const apiVersion = 'credentialprovider.kubelet.k8s.io/v1'
const metrics = {
  counter: () => ({ inc: () => undefined, remove: () => undefined }),
  histogram: () => ({ observe: () => undefined }),
}

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'keelson-plugin-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

function setUp(
  script: string,
  more: { readonly args?: readonly string[]; readonly cacheSeconds?: bigint } = {},
) {
  const path = join(dir, 'plugin')
  writeFileSync(path, `#!/bin/sh\necho run >> ${dir}/runs\n${script}\n`)
  chmodSync(path, 0o755)
  const clock = new FakeClock()
  const log = new FakeLog()
  const providers = createCredentialProviders({
    providers: [
      {
        name: 'plugin',
        apiVersion,
        matchImages: ['*.example.com', '127.0.0.1:5000'],
        defaultCacheNanos: (more.cacheSeconds ?? 60n) * 1_000_000_000n,
        args: more.args ?? [],
        env: [{ name: 'REGISTRY_USER', value: 'robot' }],
      },
    ],
    directory: dir,
    programs: createPrograms(),
    clock,
    log,
    metrics: metrics as never,
    signal: new AbortController().signal,
  })
  const runs = (): number =>
    existsSync(`${dir}/runs`) ? readFileSync(`${dir}/runs`, 'utf8').split('\n').length - 1 : 0
  const find = (image: string) => providers.find(image, new AbortController().signal)
  return { find, runs, clock, log }
}

const answer = (cacheKeyType: string, more = ''): string =>
  `printf '{"apiVersion":"${apiVersion}","kind":"CredentialProviderResponse","cacheKeyType":"${cacheKeyType}",${more}"auth":{"*.example.com":{"username":"'$REGISTRY_USER'","password":"'$1'"}}}'`
const robot = [['*.example.com', { username: 'robot', password: 'secret' }]]

test('the plugin gets the image on standard input, its arguments and its environment', async () => {
  const { find } = setUp(`cat > ${dir}/request\n${answer('Image')}`, { args: ['secret'] })
  expect(await find('r.example.com/a')).toEqual(robot)
  expect(JSON.parse(readFileSync(`${dir}/request`, 'utf8'))).toEqual({
    apiVersion,
    kind: 'CredentialProviderRequest',
    image: 'r.example.com/a',
  })
})

test('it is not asked for other images', async () => {
  const { find, runs } = setUp(answer('Image'))
  expect(await find('docker.io/library/a')).toEqual([])
  expect(runs()).toBe(0)
})

test('answers are kept by image, registry or for all; as long as they say, else as configured', async () => {
  const byImage = setUp(answer('Image'), { args: ['secret'] })
  await byImage.find('r.example.com/a')
  await byImage.find('r.example.com/a')
  expect(byImage.runs()).toBe(1)
  await byImage.find('r.example.com/b')
  expect(byImage.runs()).toBe(2)
  await byImage.clock.advance(61_000)
  await byImage.find('r.example.com/a')
  expect(byImage.runs()).toBe(3)
  rmSync(`${dir}/runs`)
  const byRegistry = setUp(answer('Registry', '"cacheDuration":"5s",'), { args: ['secret'] })
  await byRegistry.find('r.example.com/a')
  await byRegistry.find('r.example.com/b')
  expect(byRegistry.runs()).toBe(1)
  await byRegistry.clock.advance(6_000)
  await byRegistry.find('r.example.com/b')
  expect(byRegistry.runs()).toBe(2)
})

test('0 is not kept; pods that ask at the same time run it once', async () => {
  const { find, runs } = setUp(answer('Global', '"cacheDuration":"0s",'), { args: ['secret'] })
  await Promise.all([find('r.example.com/a'), find('r.example.com/a')])
  expect(runs()).toBe(1)
  await find('r.example.com/a')
  expect(runs()).toBe(2)
})

for (const [name, script, says] of [
  ['fails', 'echo secret >&2; exit 3', 'it ended with status 3'],
  ['answers with something else', 'echo secret', 'error decoding credential provider plugin response'],
  ['writes without end', 'yes secret', 'it wrote too much'],
] as const)
  test(`a plugin that ${name}: no credentials, and its words are not logged`, async () => {
    const { find, log } = setUp(script)
    expect(await find('r.example.com/a')).toEqual([])
    const lines = JSON.stringify(log.lines, (_, v: unknown) => (v instanceof Error ? v.message : v))
    expect(lines).toContain(says)
    expect(lines).not.toContain('secret')
  })
