// kubeadm-flags.env in the forms that are met on nodes.
import { describe, expect, test } from 'vitest'
import { setEndpointInFlags, setEndpointInYaml } from './edit-text.js'
import {
  endpointOfFlags,
  formatKubeletFlags,
  parseKubeletFlags,
  requireKubeletFlags,
  rewriteKubeletFlags,
  withoutEndpoint,
} from './kubelet-flags.js'

describe('parseKubeletFlags', () => {
  for (const [name, text, flags, dropped] of [
    ['empty list', 'KUBELET_KUBEADM_ARGS=""\n', [], []],
    ['no quotes', 'KUBELET_KUBEADM_ARGS=--v=2', [['v', '2']], []],
    ['single quotes', "KUBELET_KUBEADM_ARGS='--v=2'", [['v', '2']], []],
    [
      'a word without = takes the next',
      'KUBELET_KUBEADM_ARGS="--v 2 --a=b=c"',
      [
        ['v', '2'],
        ['a', 'b=c'],
      ],
      [],
    ],
    [
      'a switch before a flag stays alone',
      'KUBELET_KUBEADM_ARGS="--on --v=2 --off"',
      [
        ['on', undefined],
        ['v', '2'],
        ['off', undefined],
      ],
      [],
    ],
    ['words that are no flag', 'KUBELET_KUBEADM_ARGS="x --v=2 -y"', [['v', '2']], ['x', '-y']],
    [
      'last assignment of several lines',
      'A=1\nKUBELET_KUBEADM_ARGS="--v=1"\r\nKUBELET_KUBEADM_ARGS="--v=2"\r\n',
      [['v', '2']],
      [],
    ],
  ] as const)
    test(name, () => {
      expect(parseKubeletFlags(text)).toEqual({
        flags: flags.map(([n, value]) => ({ name: n, value })),
        dropped,
      })
    })
  test('no assignment', () => expect(parseKubeletFlags('OTHER="--v=2"\n')).toBeUndefined())
})

test('requireKubeletFlags names the file and the variable', () => {
  expect(() => requireKubeletFlags(undefined)).toThrow(/kubeadm-flags\.env/)
  expect(() => requireKubeletFlags('A=1\n')).toThrow(/kubeadm-flags\.env.*KUBELET_KUBEADM_ARGS/)
})

test('the last endpoint counts, and an empty one is none', () => {
  const of = (args: string) => endpointOfFlags(parseKubeletFlags(`KUBELET_KUBEADM_ARGS="${args}"`))
  expect(of('--container-runtime-endpoint=unix:///a --container-runtime-endpoint=unix:///b')).toBe(
    'unix:///b',
  )
  expect(of('--container-runtime-endpoint=')).toBeUndefined()
})

test('rewriting sorts by name in byte order and keeps the other lines', () => {
  const text = '# note\nKUBELET_KUBEADM_ARGS="--z=1 --container-runtime-endpoint=unix:///a --B=2 --a"\nX=1'
  const flags = withoutEndpoint(requireKubeletFlags(text).flags)
  expect(rewriteKubeletFlags(text, flags)).toBe('# note\nKUBELET_KUBEADM_ARGS="--B=2 --a --z=1"\nX=1\n')
  expect(formatKubeletFlags([])).toBe('KUBELET_KUBEADM_ARGS=""\n')
})

test('an endpoint is changed where it stands', () => {
  const line = (e: string) =>
    `KUBELET_KUBEADM_ARGS="--v 2  --container-runtime-endpoint ${e} --x"\nKEEP=--container-runtime-endpoint=1\n`
  expect(setEndpointInFlags(line('unix:///a'), 'unix:///$&b', 'f')).toBe(line('unix:///$&b'))
})

describe('setEndpointInYaml', () => {
  for (const [name, text, result] of [
    [
      'replaces the line',
      'a: 1\ncontainerRuntimeEndpoint: x # y\nb: 2\n',
      'a: 1\ncontainerRuntimeEndpoint: "unix:///n"\nb: 2\n',
    ],
    ['adds the line', '# c\na: 1', '# c\na: 1\ncontainerRuntimeEndpoint: "unix:///n"\n'],
    ['to an empty text', '', 'containerRuntimeEndpoint: "unix:///n"\n'],
    [
      'a value over two lines is written anew',
      'containerRuntimeEndpoint: >-\n  x\n  y\n',
      'containerRuntimeEndpoint: unix:///n\n',
    ],
    ['flow style is written anew', '{a: 1}', 'a: 1\ncontainerRuntimeEndpoint: unix:///n\n'],
  ] as const)
    test(name, () => expect(setEndpointInYaml(text, 'unix:///n', 'f')).toBe(result))
})
