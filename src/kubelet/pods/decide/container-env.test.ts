import { expect, test } from 'vitest'
import { image, specOf } from '../../../../test/support/pod-manifest.js'
import { containerWords, expandReferences } from './container-env.js'

const facts = { nodeName: 'n1', hostIPs: ['192.168.0.1'], podIPs: ['10.0.0.2', 'fd00::2'] }

for (const [text, result] of [
  ['$(A)', 'one'],
  ['x$(A)y$(A)', 'xoney' + 'one'],
  ['$$(A)', '$(A)'],
  ['$$$(A)', '$one'],
  ['$(B)', '$(B)'],
  ['$(A', '$(A'],
  ['$A', '$A'],
  ['$', '$'],
  ['$$', '$'],
  ['$()', '$()'],
] as const)
  test(`${text} is ${result}`, () => expect(expandReferences(text, new Map([['A', 'one']]))).toBe(result))

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
  const words = container === undefined ? undefined : containerWords(spec, container, facts)
  expect(Object.fromEntries((words?.env ?? []).map((e) => [e.key, e.value]))).toEqual({
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
  expect(words?.command).toEqual(['run', 'web'])
  expect(words?.args).toEqual(['web/u1/$(LATER)', 'l'])
})
