import { describe, expect, test } from 'vitest'
import { image, manifest, specOf } from '../../../../test/support/pod-manifest.js'
import { parsePodSpec } from '../../../core/pod/spec/parse.js'
import { parseQuantity } from '../../../core/units/quantity.js'
import { containerWords, type EnvSources, noSources } from './container-env.js'

const facts = {
  nodeName: 'n1',
  hostIPs: ['192.168.0.1'],
  podIPs: ['10.0.0.2', 'fd00::2'],
  allocatable: new Map([
    ['cpu', parseQuantity('4')],
    ['memory', parseQuantity('8Gi')],
  ]),
}

/** A pod as an API server gives it: it may name objects. */
function wordsOf(container: object, sources: Partial<EnvSources> = {}, spec: object = {}) {
  const parsed = parsePodSpec(
    manifest(
      { containers: [{ name: 'app', image, ...container }], ...spec },
      { namespace: 'shop', uid: 'u1' },
    ),
    'api',
  )
  if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems))
  const [first] = parsed.spec.containers
  if (first === undefined) throw new Error('no container')
  return containerWords(parsed.spec, first, facts, { ...noSources, ...sources })
}

const envOf = (words: ReturnType<typeof wordsOf>): Record<string, string> | string =>
  typeof words === 'string' ? words : Object.fromEntries(words.env.map((e) => [e.key, e.value]))

test('fields of the pod, earlier variables and arguments', () => {
  const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } })
  const spec = specOf(
    {
      containers: [
        {
          name: 'app',
          image,
          command: ['run', '$(NAME)'],
          args: ['$(BOTH)', '$(LATER)'],
          env: [
            field('NAME', 'metadata.name'),
            field('NS', 'metadata.namespace'),
            field('UID', 'metadata.uid'),
            field('NODE', 'spec.nodeName'),
            field('HOST', 'status.hostIP'),
            field('IP', 'status.podIP'),
            field('IPS', 'status.podIPs'),
            field('LABEL', "metadata.labels['app']"),
            field('NOTE', "metadata.annotations['x.io/y']"),
            { name: 'BOTH', value: '$(NAME)/$(UID)/$(LATER)' },
            { name: 'LATER', value: 'l' },
            { name: 'NS', value: 'again' },
          ],
        },
      ],
    },
    { labels: { app: 'w' }, annotations: { 'x.io/y': 'z' } },
  )
  const [container] = spec.containers
  if (container === undefined) throw new Error('no container')
  const words = containerWords(spec, container, facts, noSources)
  expect(envOf(words)).toEqual({
    NAME: 'web',
    NS: 'again',
    UID: 'u1',
    NODE: 'n1',
    HOST: '192.168.0.1',
    IP: '10.0.0.2',
    IPS: '10.0.0.2,fd00::2',
    LABEL: 'w',
    NOTE: 'z',
    BOTH: 'web/u1/$(LATER)',
    LATER: 'l',
  })
  expect(words).toMatchObject({ command: ['run', 'web'], args: ['web/u1/$(LATER)', 'l'] })
})

test("the service account's name is a field", () => {
  const env = [{ name: 'SA', valueFrom: { fieldRef: { fieldPath: 'spec.serviceAccountName' } } }]
  expect(envOf(wordsOf({ env }, {}, { serviceAccountName: 'robot' }))).toEqual({ SA: 'robot' })
})

describe('objects', () => {
  const configMaps = new Map([
    [
      'settings',
      new Map([
        ['color', 'red'],
        ['a.b', 'dotted'],
      ]),
    ],
  ])
  const secrets = new Map([
    [
      'keys',
      new Map([
        ['color', 'blue'],
        ['token', 'x$(PLAIN)'],
      ]),
    ],
  ])
  const services = new Map([
    ['WEB_SERVICE_HOST', '10.0.0.1'],
    ['color', 'service'],
  ])

  test('later beats earlier: services, envFrom in order, env', () => {
    const words = wordsOf(
      {
        envFrom: [
          { configMapRef: { name: 'settings' } },
          { secretRef: { name: 'keys' } },
          { prefix: 'P_', configMapRef: { name: 'settings' } },
        ],
        env: [
          { name: 'PLAIN', value: '$(color) $(P_color) $(WEB_SERVICE_HOST)' },
          { name: 'token', value: 'mine' },
          { name: 'KEY', valueFrom: { secretKeyRef: { name: 'keys', key: 'token' } } },
        ],
        args: ['$(KEY)', '$(WEB_SERVICE_HOST)'],
      },
      { configMaps, secrets, services },
    )
    expect(envOf(words)).toEqual({
      color: 'blue',
      'a.b': 'dotted',
      token: 'mine',
      P_color: 'red',
      'P_a.b': 'dotted',
      PLAIN: 'blue red 10.0.0.1',
      // Values of objects are not expanded.
      KEY: 'x$(PLAIN)',
      WEB_SERVICE_HOST: '10.0.0.1',
    })
    expect(words).toMatchObject({ args: ['x$(PLAIN)', '10.0.0.1'] })
  })

  const configKey = (ref: object) => ({ env: [{ name: 'A', valueFrom: { configMapKeyRef: ref } }] })
  const secretKey = (ref: object) => ({ env: [{ name: 'A', valueFrom: { secretKeyRef: ref } }] })
  for (const [name, container, says] of [
    ['no config map', configKey({ name: 'none', key: 'k' }), 'configmap "none" not found'],
    ['no key', configKey({ name: 'settings', key: 'k' }), "couldn't find key k in ConfigMap shop/settings"],
    ['no secret', secretKey({ name: 'none', key: 'k' }), 'secret "none" not found'],
    ['no key of a secret', secretKey({ name: 'keys', key: 'k' }), "couldn't find key k in Secret shop/keys"],
    [
      'no config map for envFrom',
      { envFrom: [{ configMapRef: { name: 'none' } }] },
      'configmap "none" not found',
    ],
    ['no secret for envFrom', { envFrom: [{ secretRef: { name: 'none' } }] }, 'secret "none" not found'],
    ['optional key', configKey({ name: 'settings', key: 'k', optional: true }), {}],
    ['optional object', secretKey({ name: 'none', key: 'k', optional: true }), {}],
    ['optional envFrom', { envFrom: [{ secretRef: { name: 'none', optional: true } }] }, {}],
  ] as const)
    test(name, () => expect(envOf(wordsOf(container, { configMaps, secrets }))).toEqual(says))
})

describe('resources', () => {
  const ref = (resource: string, more: object = {}) => ({
    env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource, ...more } } }],
  })
  const resources = { requests: { cpu: '250m', memory: '32Mi' }, limits: { cpu: '1250m', memory: '64Mi' } }
  for (const [name, container, spec, value] of [
    ['cores, rounded up', { ...ref('limits.cpu'), resources }, {}, '2'],
    ['thousandths', { ...ref('requests.cpu', { divisor: '1m' }), resources }, {}, '250'],
    ['bytes', { ...ref('limits.memory'), resources }, {}, '67108864'],
    ['mebibytes', { ...ref('requests.memory', { divisor: '1Mi' }), resources }, {}, '32'],
    [
      'the divisor that an API server fills in',
      { ...ref('limits.cpu', { divisor: '0' }), resources },
      {},
      '2',
    ],
    ['no limit: what the node can give', ref('limits.memory'), {}, String(8 * 2 ** 30)],
    [
      'no limit, one of the pod',
      ref('limits.memory'),
      { resources: { limits: { memory: '1Gi' } } },
      String(2 ** 30),
    ],
    ['no request', ref('requests.cpu'), {}, '0'],
    ['no huge pages', ref('limits.hugepages-2Mi'), {}, '0'],
    ['another container', ref('limits.memory', { containerName: 'none' }), {}, undefined],
  ] as const)
    test(name, () => {
      expect(envOf(wordsOf(container, {}, spec))).toEqual(
        value === undefined ? 'container none not found' : { A: value },
      )
    })
})

describe('a file of variables', () => {
  const volumes = [{ name: 'v', emptyDir: {} }]
  const ref = (more: object = {}) => ({
    env: [{ name: 'A', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'd/env', key: 'K', ...more } } }],
  })
  const files = (text: string) => ({ files: new Map([['v/d/env', text]]) })
  test('gives the value', () => {
    expect(envOf(wordsOf(ref(), files("K='one'"), { volumes }))).toEqual({ A: 'one' })
  })
  test('without the key: an error unless optional', () => {
    expect(envOf(wordsOf(ref(), files("B='one'"), { volumes }))).toBe(
      'environment variable key "K" not found in file "v/d/env"',
    )
    expect(envOf(wordsOf(ref({ optional: true }), files("B='one'"), { volumes }))).toEqual({})
  })
  test('unreadable or of another form', () => {
    expect(envOf(wordsOf(ref(), {}, { volumes }))).toBe("couldn't parse env file")
    expect(envOf(wordsOf(ref(), files('K=one'), { volumes }))).toBe("couldn't parse env file")
  })
})
