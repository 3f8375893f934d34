import { describe, expect, test } from 'vitest'
import { findPods, workloadKinds } from './workload.js'

const spec = { containers: [{ name: 'app' }] }
const template = { metadata: { labels: { a: 'b' } }, spec }

describe('findPods', () => {
  test('a Pod is itself', () => {
    const found = findPods({ kind: 'Pod', metadata: { name: 'p' }, spec })
    expect(found.pods).toEqual([{ origin: 'Pod p', pod: { kind: 'Pod', metadata: { name: 'p' }, spec } }])
  })

  for (const [kind, body] of [
    ['Deployment', { spec: { template } }],
    ['StatefulSet', { spec: { template } }],
    ['DaemonSet', { spec: { template } }],
    ['ReplicaSet', { spec: { template } }],
    ['ReplicationController', { spec: { template } }],
    ['Job', { spec: { template } }],
    ['CronJob', { spec: { jobTemplate: { spec: { template } } } }],
    ['PodTemplate', { template }],
  ] as const)
    test(`${kind}: the template is the pod, named after the workload`, () => {
      const found = findPods({ kind, metadata: { name: 'w', namespace: 'n' }, ...body })
      expect(found.pods).toHaveLength(1)
      expect(found.pods[0]?.origin).toBe(`${kind} w`)
      expect(found.pods[0]?.pod['spec']).toEqual(spec)
      expect(found.pods[0]?.pod['metadata']).toMatchObject({ name: 'w', namespace: 'n', labels: { a: 'b' } })
    })

  test('every kind with a template is listed for messages', () => {
    expect(workloadKinds).toContain('CronJob')
    expect(workloadKinds[0]).toBe('Pod')
  })

  test('lists are opened, typed ones too, and other kinds are passed over by name', () => {
    const found = findPods({
      kind: 'List',
      items: [
        { kind: 'Service', metadata: { name: 's' } },
        { kind: 'Pod', metadata: { name: 'a' }, spec },
        { kind: 'PodList', items: [{ metadata: { name: 'b' }, spec }] },
      ],
    })
    expect(found.pods.map((p) => p.origin)).toEqual(['Pod a', 'Pod b'])
    expect(found.skipped).toEqual(['Service s'])
  })

  for (const [name, document, message] of [
    ['no kind', { metadata: {} }, /no kind/],
    ['a text', 'hello', /no kind/],
    ['null', null, /no kind/],
    [
      'no template',
      { kind: 'Deployment', metadata: { name: 'w' }, spec: {} },
      /Deployment w: spec.template is missing/,
    ],
    ['items not a list', { kind: 'List', items: 'x' }, /items is not a list/],
    [
      'lists without end',
      {
        kind: 'List',
        items: [
          {
            kind: 'List',
            items: [{ kind: 'List', items: [{ kind: 'List', items: [{ kind: 'List', items: [] }] }] }],
          },
        ],
      },
      /too deeply/,
    ],
  ] as const)
    test(`refused: ${name}`, () => expect(() => findPods(document)).toThrow(message))
})
