// Images of a registry that asks who is there, pulled by a real containerd: with no, wrong and right credentials, from a pull
// secret, from the node's own file and from a credential provider plugin.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { packImages, type Registry, startRegistry } from '../../conformance/images/registry.js'
import { digestOf } from '../../conformance/images/test-image.js'
import { createClock } from '../../src/adapters/clock/clock.js'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { createFiles } from '../../src/adapters/files/files.js'
import { createPodHost } from '../../src/adapters/pods/pod-host.js'
import { createPrograms } from '../../src/adapters/programs/programs.js'
import type { Secret } from '../../src/core/kube/objects.js'
import { parsePodSpec } from '../../src/core/pod/spec/parse.js'
import { FakeLog } from '../../src/fakes/log.js'
import type { PodEvent } from '../../src/kubelet/events/pod-events.js'
import { createCredentialProviders } from '../../src/kubelet/images/credential-providers.js'
import type { PullBackoff } from '../../src/kubelet/images/decide/image-pull.js'
import { createPullRate } from '../../src/kubelet/images/decide/pull-rate.js'
import { ensureImage } from '../../src/kubelet/images/ensure-image.js'
import { createPullRecords } from '../../src/kubelet/images/pull-records.js'
import { createRegistryCredentials } from '../../src/kubelet/images/registry-credentials.js'
import type { PodContext } from '../../src/kubelet/pods/context.js'
import { createLimiter } from '../../src/kubelet/pods/run/limiter.js'
import { type PrivateContainerd, startPrivateContainerd } from '../../src/lab/containerd/start-containerd.js'
import type { CriClient } from '../../src/ports/runtime.js'
import { manifest } from '../support/pod-manifest.js'
import { missingRequirement } from '../support/requirements.js'

const missing = missingRequirement({ root: true, packages: ['containerd'] })
const user = { username: 'robot', password: 'pass:word' }
const repository = 'team/private'

let containerd: PrivateContainerd
let registry: Registry
let cri: CriClient
let directory = ''
let host = ''
let digest = ''

beforeAll(async () => {
  if (missing !== undefined) return
  directory = mkdtempSync(join(tmpdir(), 'keelson-registry-'))
  const file = { path: 'hello', mode: 0o644, data: Buffer.from('hello') }
  const content = await packImages([
    { repository, tags: ['1'], layers: [[file]] },
    { repository: 'team/open', tags: ['1'], layers: [[file]] },
  ])
  const entry = content.get(`manifests/${repository}/1`)
  digest = entry === undefined || typeof entry.from === 'string' ? '' : digestOf(entry.from)
  registry = await startRegistry(content, {
    protectedRepositories: [{ repository, user: user.username, password: user.password }],
  })
  host = new URL(registry.url).host
  containerd = await startPrivateContainerd()
  cri = createCriClient(containerd.endpoint, { timeoutMs: 60_000 })
}, 120_000)
afterAll(async () => {
  cri?.close()
  await containerd?.close()
  await registry?.close()
  if (directory !== '') rmSync(directory, { recursive: true, force: true })
}, 60_000)

beforeEach(async (ctx) => {
  if (missing !== undefined) {
    if (process.env.CI === 'true') throw new Error(missing)
    ctx.skip(missing)
  }
  rmSync(join(directory, 'image_manager'), { recursive: true, force: true })
  for (const { id } of (await cri.image.listImages({}, { timeoutMs: 10_000 })).images)
    await cri.image.removeImage({ image: { image: id } }, { timeoutMs: 10_000 })
})

const secretOf = (name: string, credential: typeof user, type = 'dockerconfigjson'): Secret => {
  const auths = { [host]: credential }
  const content = type === 'dockercfg' ? auths : { auths }
  return {
    metadata: { name },
    type: `kubernetes.io/${type}`,
    data: { [`.${type}`]: Buffer.from(JSON.stringify(content)).toString('base64') },
  }
}

interface Setting {
  readonly secrets?: readonly Secret[]
  readonly pullSecrets?: readonly string[]
  readonly nodeFile?: string
  readonly plugin?: string
}

async function pull(
  image: string,
  { secrets = [], pullSecrets, nodeFile, plugin }: Setting = {},
  policy?: string,
) {
  const container = { name: 'app', image, ...(policy === undefined ? {} : { imagePullPolicy: policy }) }
  const names = pullSecrets ?? secrets.map(({ metadata }) => metadata?.name ?? '')
  const parsed = parsePodSpec(
    manifest({ containers: [container], imagePullSecrets: names.map((name) => ({ name })) }),
    'api',
  )
  if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems))
  const [first] = parsed.spec.containers
  if (first === undefined) throw new Error('no container')
  const events: PodEvent[] = []
  const recorder = { pod: (_: unknown, event: PodEvent) => void events.push(event) }
  const log = new FakeLog()
  const clock = createClock()
  const metrics = {
    counter: () => ({ inc: () => undefined }),
    histogram: () => ({ observe: () => undefined }),
  }
  const files = createFiles()
  const credentials = createRegistryCredentials({
    objects: { secret: async (_, name) => secrets.find(({ metadata }) => metadata?.name === name) },
    providers:
      plugin === undefined
        ? undefined
        : createCredentialProviders({
            providers: [
              {
                name: plugin,
                apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
                matchImages: [host],
                defaultCacheNanos: 0n,
                args: [],
                env: [],
              },
            ],
            directory,
            programs: createPrograms(),
            clock,
            log,
            metrics: metrics as never,
            signal: new AbortController().signal,
          }),
    nodeFile: nodeFile ?? join(directory, 'none.json'),
    files,
    digest: createPodHost().digest,
    events: recorder,
    log,
  })
  const context: Partial<PodContext> = {
    images: cri.image,
    events: recorder,
    clock,
    timeoutMs: 30_000,
    pulls: createLimiter(1),
    pullRate: createPullRate(5, 10),
    pullMetrics: { pulled: () => undefined },
    credentials,
    pullRecords: createPullRecords({
      policy: 'NeverVerifyPreloadedImages',
      allowlist: [],
      directory: join(directory, 'image_manager'),
      digest: createPodHost().digest,
      host: createPodHost(),
      files,
      clock,
      log,
    }),
  }
  const backoffs = new Map<string, PullBackoff>()
  const { signal } = new AbortController()
  const result = await ensureImage(
    {
      spec: parsed.spec,
      container: first,
      sandbox: {},
      pullBackoffs: backoffs,
      onPulled: (name, backoff) => (backoff === undefined ? undefined : void backoffs.set(name, backoff)),
      pullSignal: signal,
    },
    context as PodContext,
    signal,
  )
  return { result, events: events.map(({ reason, message }) => `${reason}: ${message}`), backoffs }
}

const privateImage = (): string => `${host}/${repository}:1`

test('without credentials: refused, with the events and the back-off of upstream', async () => {
  const image = privateImage()
  const { result, events, backoffs } = await pull(image)
  expect(result).toMatchObject({
    reason: 'ErrImagePull',
    message: expect.stringMatching(/^rpc error: code = .*401/s),
  })
  expect(events[0]).toBe(`Pulling: Pulling image "${image}"`)
  expect(events[1]).toMatch(new RegExp(`^Failed: Failed to pull image "${image}": rpc error: code = `))
  expect(backoffs.get(image)?.error).toMatch(/^ErrImagePull: rpc error/)
})

test('wrong credentials are refused; each that is tried is named', async () => {
  const wrong = { ...user, password: 'wrong' }
  const { result } = await pull(privateImage(), { secrets: [secretOf('a', wrong), secretOf('b', wrong)] })
  expect(result).toMatchObject({
    reason: 'ErrImagePull',
    message: expect.stringMatching(/^\[rpc error.*, rpc error.*\]$/s),
  })
})

for (const type of ['dockerconfigjson', 'dockercfg'])
  test(`a pull secret of type ${type}: pulled, with time and size in the event`, async () => {
    const image = privateImage()
    const { result, events } = await pull(image, {
      secrets: [secretOf('wrong', { ...user, password: 'x' }), secretOf('right', user, type)],
    })
    expect(result).toMatchObject({ repoTags: [image] })
    expect(events[1]).toMatch(
      new RegExp(
        `^Pulled: Successfully pulled image "${image}" in [\\d.]+m?s \\([\\d.]+m?s including waiting\\). Image size: \\d+ bytes.$`,
      ),
    )
  })

test('by digest; and what is there is used without a pull', async () => {
  const image = `${host}/${repository}@${digest}`
  const secrets = [secretOf('right', user)]
  expect((await pull(image, { secrets })).result).toMatchObject({ repoDigests: [image] })
  const again = await pull(image, { secrets })
  expect(again.result).toMatchObject({ repoDigests: [image] })
  expect(again.events).toEqual([
    `Pulled: Container image "${image}" already present on machine and can be accessed by the pod`,
  ])
})

test('what was pulled with a secret is for pods that have it; what is open, for all', async () => {
  const secrets = [secretOf('right', user)]
  await pull(privateImage(), { secrets })
  expect((await pull(privateImage())).result).toMatchObject({ reason: 'ErrImagePull' })
  expect((await pull(privateImage(), {}, 'Never')).result).toMatchObject({ reason: 'ErrImageNeverPull' })
  const renamed = await pull(privateImage(), { secrets: [secretOf('same-password', user)] }, 'Never')
  expect(renamed.result).toMatchObject({ repoTags: [privateImage()] })
  await pull(`${host}/team/open:1`)
  expect((await pull(`${host}/team/open:1`, {}, 'Never')).events).toEqual([
    `Pulled: Container image "${host}/team/open:1" already present on machine and can be accessed by the pod`,
  ])
})

test('a pull secret that does not exist is an event, and an open image is pulled all the same', async () => {
  const { result, events } = await pull(`${host}/team/open:1`, { pullSecrets: ['gone'] })
  expect(result).toMatchObject({ repoTags: [`${host}/team/open:1`] })
  expect(events).toContain(
    'FailedToRetrieveImagePullSecret: Unable to retrieve some image pull secrets (gone); attempting to pull the image may not succeed.',
  )
})

test("the node's own config.json", async () => {
  const nodeFile = join(directory, 'config.json')
  const auth = Buffer.from(`${user.username}:${user.password}`).toString('base64')
  writeFileSync(nodeFile, JSON.stringify({ auths: { [`https://${host}/v2/`]: { auth } } }))
  expect((await pull(privateImage(), { nodeFile })).result).toMatchObject({ repoTags: [privateImage()] })
})

test('a credential provider plugin', async () => {
  const response = {
    apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
    kind: 'CredentialProviderResponse',
    cacheKeyType: 'Image',
    auth: { [host]: user },
  }
  writeFileSync(join(directory, 'plugin'), `#!/bin/sh\ncat > /dev/null\necho '${JSON.stringify(response)}'\n`)
  chmodSync(join(directory, 'plugin'), 0o755)
  expect((await pull(privateImage(), { plugin: 'plugin' })).result).toMatchObject({
    repoTags: [privateImage()],
  })
})

test('Never, a name that is none, and a tag that the registry does not have', async () => {
  expect((await pull(privateImage(), {}, 'Never')).result).toMatchObject({ reason: 'ErrImageNeverPull' })
  expect((await pull('Bad Name', {})).result).toMatchObject({ reason: 'InvalidImageName' })
  expect((await pull(`${host}/team/open:2`)).result).toMatchObject({ reason: 'ErrImagePull' })
})
