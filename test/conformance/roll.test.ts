import { expect, test } from 'vitest'
import { planKills } from '../../conformance/roll/kills.js'
import { readSeenPod, statusProblems } from '../../conformance/roll/status-rules.js'
import type { KubePod } from '../../src/core/kube/objects.js'
import { createRandom } from '../fuzz/random.js'

interface Given {
  readonly phase?: string
  readonly ready?: boolean
  readonly generation?: number
  readonly deleted?: boolean
  readonly container?: { readonly id?: string; readonly restarts?: number; readonly state?: string }
  readonly last?: string
}
const pod = ({
  phase = 'Running',
  ready = true,
  generation = 1,
  deleted,
  container = {},
  last,
}: Given = {}) =>
  readSeenPod({
    metadata: { name: 'web', ...(deleted === true ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}) },
    status: {
      phase,
      observedGeneration: generation,
      startTime: '2026-01-01T00:00:00Z',
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
      containerStatuses: [
        {
          name: 'app',
          containerID: container.id ?? 'containerd://1',
          restartCount: container.restarts ?? 0,
          state: { [container.state ?? 'running']: {} },
          lastState: last === undefined ? {} : { terminated: { reason: last } },
        },
      ],
    },
  } as KubePod)

const waiting = { container: { id: '', state: 'waiting' }, phase: 'Pending', ready: false }
const ended = { phase: 'Succeeded', ready: false, deleted: true, container: { state: 'terminated' } }

for (const [name, before, now] of [
  ['the same again', {}, {}],
  ['a start', waiting, {}],
  ['the end of a pod that was deleted', {}, ended],
  ['readiness that a deletion ends', {}, { ready: false, deleted: true }],
] as const)
  test(`${name} may follow`, () => expect(statusProblems(pod(before), pod(now))).toEqual([]))

for (const [name, before, now, problem] of [
  ['a phase', {}, { phase: 'Pending' }, 'phase Running -> Pending'],
  ['a final phase', ended, { ...ended, phase: 'Failed' }, 'phase Succeeded -> Failed'],
  ['an end without a deletion', {}, { phase: 'Failed' }, 'phase Failed, although it was not deleted'],
  ['readiness', {}, { ready: false }, 'Ready -> not Ready'],
  ['a generation', { generation: 2 }, {}, 'observedGeneration 2 -> 1'],
  ['a restart count', { container: { restarts: 2 } }, {}, 'restartCount of app 2 -> 0'],
  ['a container that runs', {}, { container: { state: 'waiting' } }, 'container app running -> waiting'],
  [
    'a container that is another one',
    {},
    { container: { id: 'containerd://2' } },
    'container app is another one: containerd://1 -> containerd://2',
  ],
  [
    'a restart of what ran',
    {},
    { container: { id: 'containerd://2', restarts: 1 }, last: 'Error' },
    'container app was restarted (running, containerd://1 -> containerd://2; Error)',
  ],
] as const)
  test(`goes back: ${name}`, () => expect(statusProblems(pod(before), pod(now))).toContain(problem))

test('the same seed gives the same kills, as many of each as were asked for', () => {
  const kills = planKills(10, 4, createRandom(7))
  expect(kills).toEqual(planKills(10, 4, createRandom(7)))
  expect(kills.filter((kill) => kill === 'runtime')).toHaveLength(4)
  expect(kills).toHaveLength(14)
})
