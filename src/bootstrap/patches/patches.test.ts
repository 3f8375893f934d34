// File names, kinds and effects of patches, and what each refusal says.
import { describe, expect, test } from 'vitest'
import { planKubeletConfig } from '../kubelet-config.js'
import { parseYamlMap } from '../yaml-text.js'
import { applyPatches } from './apply-patches.js'
import { parsePatchName, readKubeletPatches } from './patch-files.js'

describe('parsePatchName', () => {
  for (const [name, type] of [
    ['kubeletconfiguration.yaml', 'strategic'],
    ['kubeletconfiguration0.json', 'strategic'],
    ['kubeletconfiguration-10+merge.yaml', 'merge'],
    ['sub/kubeletconfiguration+json.json', 'json'],
    ['kubeletconfiguration.local.yaml', 'strategic'],
  ] as const)
    test(name, () =>
      expect(parsePatchName(name)).toEqual({ kind: 'patch', target: 'kubeletconfiguration', type }),
    )
  for (const name of [
    'README.md',
    'kubelet.yaml',
    'kubeletconfiguration.yml',
    'kubeletconfiguration',
    '.yaml',
    'x+odd.yaml',
  ])
    test(`${name} is ignored`, () => expect(parsePatchName(name).kind).toBe('ignored'))
  for (const name of [
    'kubeletconfiguration+.yaml',
    'kubeletconfiguration+yaml.yaml',
    'etcd+x.json',
    'kubeletconfiguration+merge+json.yaml',
  ])
    test(`${name} is refused`, () => {
      for (const word of ['patch type', 'json', 'merge', 'strategic'])
        expect(() => parsePatchName(name)).toThrow(word)
    })
})

const patched = (
  name: string,
  text: string,
  base: Record<string, unknown> = { a: 1, m: { x: 1, k: 2 }, l: [1, 2] },
) => applyPatches(base, readKubeletPatches([{ name, text }]).patches)

describe('applyPatches', () => {
  for (const [title, name, text, result] of [
    [
      'strategic: scalars replace, null deletes, lists replace, maps merge',
      'kubeletconfiguration.yaml',
      'a: null\nm: {x: 5, z: {q: null}}\nl: [3]\n',
      { m: { x: 5, k: 2, z: {} }, l: [3] },
    ],
    [
      'strategic: $patch replace and delete',
      'kubeletconfiguration.yaml',
      'm: {$patch: replace, o: 1}\nl: [9]\n',
      { a: 1, m: { o: 1 }, l: [9] },
    ],
    ['strategic: $patch delete', 'kubeletconfiguration.yaml', 'm: {$patch: delete}\n', { a: 1, l: [1, 2] }],
    [
      'strategic: $retainKeys',
      'kubeletconfiguration.yaml',
      'm: {$retainKeys: [k]}\n',
      { a: 1, m: { k: 2 }, l: [1, 2] },
    ],
    [
      'strategic: $deleteFromPrimitiveList',
      'kubeletconfiguration.yaml',
      '$deleteFromPrimitiveList/l: [1]\n',
      { a: 1, m: { x: 1, k: 2 }, l: [2] },
    ],
    [
      'merge',
      'kubeletconfiguration+merge.yaml',
      'm: {x: null}\nb: yes\n',
      { a: 1, m: { k: 2 }, l: [1, 2], b: true },
    ],
    [
      'json',
      'kubeletconfiguration+json.yaml',
      '- {op: add, path: /l/-, value: 3}\n- {op: remove, path: /m/x}\n- {op: test, path: /a, value: 1}\n',
      { a: 1, m: { k: 2 }, l: [1, 2, 3] },
    ],
    ['empty file', 'kubeletconfiguration.yaml', '# nothing\n', { a: 1, m: { x: 1, k: 2 }, l: [1, 2] }],
    [
      'several documents, in turn',
      'kubeletconfiguration.yaml',
      'a: 2\n---\n---\na: 3\n',
      { a: 3, m: { x: 1, k: 2 }, l: [1, 2] },
    ],
  ] as const)
    test(title, () => expect(patched(name, text)).toEqual(result))

  for (const [title, name, text] of [
    ['a list as a strategic patch', 'kubeletconfiguration.yaml', '- a\n'],
    ['text as a merge patch', 'kubeletconfiguration+merge.yaml', 'word\n'],
    ['a mapping as a json patch', 'kubeletconfiguration+json.yaml', 'a: 1\n'],
    [
      'json: a path that is not there',
      'kubeletconfiguration+json.yaml',
      '- {op: replace, path: /nope, value: 1}\n',
    ],
    [
      'json: beyond the end of a list',
      'kubeletconfiguration+json.yaml',
      '- {op: add, path: /l/7, value: 1}\n',
    ],
    ['json: a failed test', 'kubeletconfiguration+json.yaml', '- {op: test, path: /a, value: 2}\n'],
    ['json: an unknown operation', 'kubeletconfiguration+json.yaml', '- {op: put, path: /a, value: 2}\n'],
    ['json: into itself', 'kubeletconfiguration+json.yaml', '- {op: move, from: /m, path: /m/x}\n'],
    ['json: a prototype', 'kubeletconfiguration+json.yaml', '- {op: add, path: /__proto__/x, value: 2}\n'],
    ['an unknown directive', 'kubeletconfiguration.yaml', '$patch: shuffle\n'],
  ] as const)
    test(`${title} is refused`, () => {
      for (const word of ['kubeletconfiguration', 'patch', name])
        expect(() => patched(name, text)).toThrow(word)
    })

  test('the document that is patched is not changed', () => {
    const base = { l: [1], m: { x: 1 } }
    patched('kubeletconfiguration+json.yaml', '- {op: add, path: /l/0, value: 0}\n', base)
    patched('kubeletconfiguration.yaml', 'm: {x: 2}\n', base)
    expect(base).toEqual({ l: [1], m: { x: 1 } })
  })
})

test("the KEP gives the user's patch the last word, upstream the instance file", () => {
  const { patches } = readKubeletPatches([
    {
      name: 'kubeletconfiguration+json.yaml',
      text: '- {op: replace, path: /containerRuntimeEndpoint, value: u}\n',
    },
  ])
  const input = {
    base: { containerRuntimeEndpoint: '' },
    instance: { containerRuntimeEndpoint: 'i' },
    patches,
  }
  expect(parseYamlMap(planKubeletConfig({ ...input, profile: 'kep' }), 'x')).toEqual({
    containerRuntimeEndpoint: 'u',
  })
  expect(parseYamlMap(planKubeletConfig({ ...input, profile: 'upstream' }), 'x')).toEqual({
    containerRuntimeEndpoint: 'i',
  })
})
