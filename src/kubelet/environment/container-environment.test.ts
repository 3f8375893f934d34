// Reading what variables come from: only what is referred to, and what cannot be read keeps the container from starting.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { image, specOf } from '../../../test/support/pod-manifest.js'
import { createPodHost } from '../../adapters/pods/pod-host.js'
import { keelsonError } from '../../core/errors.js'
import type { KubeService } from '../../core/kube/objects.js'
import { parseQuantity } from '../../core/units/quantity.js'
import { FakeClock } from '../../fakes/clock.js'
import { FakeLog } from '../../fakes/log.js'
import type { NodeObjects } from '../objects/node-objects.js'
import { emptyDirPath } from '../pods/to-cri/names.js'
import { containerEnvironment } from './container-environment.js'

const rootDir = mkdtempSync(join(tmpdir(), 'keelson-env-'))
afterAll(() => rmSync(rootDir, { recursive: true, force: true }))
const paths = { rootDir, podLogsDir: '/var/log/pods' }

const objectsOf = (more: Partial<NodeObjects> = {}): NodeObjects =>
  ({
    services: () => [],
    configMap: async (_: string, name: string) => (name === 'here' ? { data: { k: 'v' } } : undefined),
    secret: async (_: string, name: string) =>
      name === 'here' ? { data: { k: Buffer.from('hidden').toString('base64') } } : undefined,
    ...more,
  }) as NodeObjects

async function read(
  container: object,
  objects: NodeObjects | undefined,
  spec: object = {},
  clock = new FakeClock(),
) {
  const wanted = specOf({ containers: [{ name: 'app', image, ...container }], ...spec }, {}, 'api')
  const [first] = wanted.containers
  if (first === undefined) throw new Error('no container')
  const context = {
    nodeName: 'n1',
    hostIPs: ['192.0.2.1'],
    allocatable: async () => new Map([['memory', parseQuantity('1Gi')]]),
    objects,
    host: createPodHost(),
    paths,
    clock,
    log: new FakeLog(),
  }
  const words = await containerEnvironment(wanted, first, ['10.0.0.2'], context, new AbortController().signal)
  return typeof words === 'string' ? words : Object.fromEntries(words.env.map((e) => [e.key, e.value]))
}

test('config maps and secrets, decoded', async () => {
  const container = {
    envFrom: [{ configMapRef: { name: 'here' }, prefix: 'P_' }],
    env: [{ name: 'S', valueFrom: { secretKeyRef: { name: 'here', key: 'k' } } }],
  }
  expect(await read(container, objectsOf())).toEqual({ P_k: 'v', S: 'hidden' })
  const gone = { envFrom: [{ secretRef: { name: 'gone' } }] }
  expect(await read(gone, objectsOf())).toBe('secret "gone" not found')
})

test('an object that cannot be read is the reason why the container does not start', async () => {
  const failing = objectsOf({
    configMap: () => Promise.reject(keelsonError('kubeapi.failed', 'failed to sync configmap cache')),
  })
  expect(await read({ envFrom: [{ configMapRef: { name: 'here', optional: true } }] }, failing)).toBe(
    'failed to sync configmap cache',
  )
})

test('the list of services is waited for a moment, not for ever', async () => {
  const clock = new FakeClock()
  let services: readonly KubeService[] | undefined
  const web = {
    metadata: { name: 'web', namespace: 'default' },
    spec: { clusterIP: '10.0.0.1', ports: [{ port: 80 }] },
  }
  const objects = objectsOf({ services: () => services })
  const reading = read({}, objects, {}, clock)
  await clock.advance(300)
  services = [web]
  await clock.advance(200)
  expect(await reading).toMatchObject({ WEB_SERVICE_HOST: '10.0.0.1' })
  services = undefined
  const never = read({}, objects, {}, clock)
  await clock.advance(6_000)
  expect(await never).toBe('services have not yet been read at least once, cannot construct envvars')
})

test('a file in a volume; a link to elsewhere is not followed', async () => {
  const volume = emptyDirPath(paths, 'u1', 'v')
  mkdirSync(join(volume, 'd'), { recursive: true })
  writeFileSync(join(volume, 'd/env'), "K='from a file'\n")
  writeFileSync(join(rootDir, 'outside'), "K='of the host'\n")
  symlinkSync(join(rootDir, 'outside'), join(volume, 'link'))
  const file = (path: string) => ({
    env: [{ name: 'A', valueFrom: { fileKeyRef: { volumeName: 'v', path, key: 'K' } } }],
  })
  const volumes = { volumes: [{ name: 'v', emptyDir: {} }] }
  expect(await read(file('d/env'), undefined, volumes)).toEqual({ A: 'from a file' })
  expect(await read(file('link'), undefined, volumes)).toBe("couldn't parse env file")
  expect(await read(file('none'), undefined, volumes)).toBe("couldn't parse env file")
})
