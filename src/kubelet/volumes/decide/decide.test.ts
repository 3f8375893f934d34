import { describe, expect, test } from 'vitest'
import { image, specOf } from '../../../../test/support/pod-manifest.js'
import { parseQuantity } from '../../../core/units/quantity.js'
import { cleanFilePath } from './file-path.js'
import { filesOfConfigMap, filesOfPod, filesOfSecret } from './files-of-volume.js'
import { hugePageSize, memoryVolumeSize } from './memory-size.js'
import { nestedMountPoints } from './nested-mount-points.js'
import { quoteGo } from './quote-go.js'
import { subPathOf } from './sub-path.js'
import { tokenFile } from './token-owner.js'

describe('files of an object', () => {
  const source = { object: 'c', items: [], optional: false }
  const found = { data: { a: '1' }, binaryData: { b: 'Ag==' } }

  test('every key, text and binary, with the default mode', () =>
    expect(filesOfConfigMap({ source, found, defaultMode: 0o640 })).toEqual([
      { path: 'b', content: { base64: 'Ag==' }, mode: 0o640 },
      { path: 'a', content: { text: '1' }, mode: 0o640 },
    ]))

  test('chosen keys at chosen places with their own modes', () => {
    const items = [{ key: 'a', path: 'x/y', mode: 0o400 }]
    expect(filesOfConfigMap({ source: { ...source, items }, found, defaultMode: 0o644 })).toEqual([
      { path: 'x/y', content: { text: '1' }, mode: 0o400 },
    ])
  })

  test('what is missing, in upstream words; optional is empty', () => {
    const items = [{ key: 'z', path: 'z', mode: undefined }]
    const missing = { found: undefined, defaultMode: 0o644 }
    expect(() => filesOfConfigMap({ source, ...missing })).toThrow('configmap "c" not found')
    expect(() => filesOfSecret({ source, ...missing })).toThrow('secret "c" not found')
    const partly = { source: { ...source, items }, defaultMode: 0o644 }
    expect(() => filesOfConfigMap({ ...partly, found })).toThrow(
      'configmap references non-existent config key: z',
    )
    expect(() => filesOfSecret({ ...partly, found })).toThrow('references non-existent secret key: z')
    const optional = { ...source, items, optional: true }
    expect(filesOfSecret({ source: optional, ...missing })).toEqual([])
    expect(filesOfConfigMap({ source: optional, found, defaultMode: 0o644 })).toEqual([])
  })
})

test('fields of the pod: maps sorted and quoted, amounts divided, limits that are not set from the node', () => {
  const spec = specOf(
    {
      containers: [
        { name: 'app', image, resources: { requests: { cpu: '250m' }, limits: { memory: '64Mi' } } },
      ],
    },
    { labels: { b: '2', a: '1' }, annotations: { note: 'say "hi"\n' } },
  )
  const file = (path: string, value: Parameters<typeof filesOfPod>[0][number]['value']) => ({
    path,
    mode: undefined,
    value,
  })
  const amount = (resource: string, divisor: string) => ({
    resource: { container: 'app', resource, divisor },
  })
  const files = filesOfPod(
    [
      file('labels', { fieldPath: 'metadata.labels' }),
      file('annotations', { fieldPath: 'metadata.annotations' }),
      file('one', { fieldPath: "metadata.labels['b']" }),
      file('name', { fieldPath: 'metadata.name' }),
      file('memory', amount('limits.memory', '1Mi')),
      file('request', amount('requests.cpu', '1m')),
      file('cpu', amount('limits.cpu', '1')),
    ],
    spec,
    0o644,
    new Map([['cpu', parseQuantity('1500m')]]),
  )
  expect(
    Object.fromEntries(files.map(({ path, content }) => [path, 'text' in content ? content.text : ''])),
  ).toEqual({
    labels: 'a="1"\nb="2"',
    annotations: expect.stringContaining('note="say \\"hi\\"\\n"'),
    one: '2',
    name: spec.pod.name,
    memory: '64',
    request: '250',
    cpu: '2',
  })
})

for (const { text, quoted } of [
  { text: 'a', quoted: '"a"' },
  { text: 'a"b\\', quoted: '"a\\"b\\\\"' },
  { text: '\u0001\u007f', quoted: '"\\x01\\x7f"' },
  { text: 'ä€\u{1f600}', quoted: '"ä€\u{1f600}"' },
  { text: '\u00a0\u2028', quoted: '"\\u00a0\\u2028"' },
])
  test(`quoteGo: ${quoted}`, () => expect(quoteGo(text)).toBe(quoted))

describe('where a file may lie', () => {
  test('clean paths', () => expect(cleanFilePath('a//./b')).toBe('a/b'))
  test('a name of 253 characters', () => expect(cleanFilePath('k'.repeat(253))).toHaveLength(253))
  for (const path of [
    '',
    '/etc/passwd',
    '..',
    'a/../b',
    '..data',
    '..x/y',
    './..data',
    'a'.repeat(256),
    'b/'.repeat(2100),
    '.',
    'a\0b',
  ])
    test(`not ${JSON.stringify(path.slice(0, 20))}`, () =>
      expect(() => cleanFilePath(path)).toThrow('invalid path'))
})

describe('size of a volume in memory', () => {
  const node = { allocatableMemory: 100n, podLimit: undefined, sizeLimit: undefined }
  test('the node', () => expect(memoryVolumeSize(node)).toBe(100n))
  test('the pod', () => expect(memoryVolumeSize({ ...node, podLimit: 60n, sizeLimit: 80n })).toBe(60n))
  test('the volume', () => expect(memoryVolumeSize({ ...node, podLimit: 60n, sizeLimit: 20n })).toBe(20n))
  test('0 is no limit', () => expect(memoryVolumeSize({ ...node, podLimit: 0n, sizeLimit: 0n })).toBe(100n))
})

test('huge pages: the size that is asked for, and only one where the medium names none', () => {
  const asking = (...sizes: string[]) =>
    specOf({
      containers: sizes.map((size, n) => {
        const amounts = { [`hugepages-${size}`]: '64Mi', memory: '64Mi' }
        return { name: `c${n}`, image, resources: { requests: amounts, limits: amounts } }
      }),
    }).pod
  expect(hugePageSize(asking('2Mi'), undefined)).toBe(2n * 1024n * 1024n)
  expect(() => hugePageSize(asking('2Mi', '1Gi'), undefined)).toThrow('multiple huge page sizes')
  expect(() => hugePageSize(asking('2Mi'), 1024n ** 3n)).toThrow('no resource request for huge pages')
})

test('mounts below a volume get a place in it, the upper one only', () => {
  const mount = (name: string, mountPath: string) => ({ name, mountPath })
  const volumes = ['v', 'w'].map((name) => ({ name, emptyDir: {} }))
  const volumeMounts = [
    mount('v', '/a'),
    mount('w', '/a/b'),
    mount('w', '/a/b/c'),
    mount('w', '/ab'),
    mount('w', '/a/b-c'),
  ]
  const spec = specOf({ volumes, containers: [{ name: 'app', image, volumeMounts }] })
  expect([...nestedMountPoints(spec, 'v')].sort()).toEqual(['b', 'b-c'])
})

describe('subPath', () => {
  const values = new Map([
    ['POD', 'web-0'],
    ['ROOT', '/etc'],
    ['UP', '..'],
    ['EMPTY', ''],
  ])
  const of = (text: string) =>
    subPathOf({ subPath: { kind: 'expression', text } }, (name) => values.get(name))
  test('with variables', () => expect(of('logs/$(POD)')).toBe('logs/web-0'))
  test('an unknown variable', () =>
    expect(() => of('$(NONE)/$(EMPTY)')).toThrow('missing value for EMPTY, NONE'))
  test('an absolute result', () => expect(() => of('$(ROOT)')).toThrow('must not be an absolute path'))
  test('a result with ..', () => expect(() => of('a/$(UP)/b')).toThrow("must not contain '..'"))
})

describe('who may read a token', () => {
  const owned = (spec: object, container: object = {}) =>
    tokenFile(specOf({ containers: [{ name: 'app', image, ...container }], ...spec }), 0o644)
  test('everybody in the pod', () => expect(owned({})).toEqual({ mode: 0o644 }))
  test('the one user', () =>
    expect(owned({}, { securityContext: { runAsUser: 7 } })).toEqual({ mode: 0o600, owner: 7 }))
  test('the group', () => expect(owned({ securityContext: { fsGroup: 9 } })).toEqual({ mode: 0o600 }))
})
