import { describe, expect, test } from 'vitest'
import type { KubePod } from '../../../../core/kube/objects.js'
import type { PodCondition, PodStatus } from '../../../../core/pod/status-json.js'
import { mayBeRemoved, podStatusPatch } from './status-patch.js'

const time = '2026-01-01T00:00:00Z'
const condition = (type: string, status: 'True' | 'False' = 'True'): PodCondition => ({
  type,
  status,
  lastProbeTime: null,
  lastTransitionTime: time,
})
const status = (more: Partial<PodStatus> = {}): PodStatus => ({
  phase: 'Running',
  conditions: [condition('Ready'), condition('PodScheduled')],
  startTime: time,
  containerStatuses: [],
  qosClass: 'BestEffort',
  ...more,
})
const pod = (shown: object, metadata: object = {}): KubePod => ({
  metadata: { name: 'web', uid: 'u1', ...metadata },
  status: { ...shown },
})
const patchOf = (before: object, now: PodStatus, mayRun = true) =>
  podStatusPatch(pod(before), { status: now, mayRun }) as
    | { readonly metadata: object; readonly status: Record<string, unknown> }
    | undefined

describe('the patch of a status', () => {
  test('is none when the API server has all of it', () => {
    const { containerStatuses: _, ...same } = status()
    expect(patchOf(same, status())).toBeUndefined()
  })

  test('has the uid as a precondition, and only what differs', () => {
    const { containerStatuses: _, ...same } = status()
    expect(patchOf({ ...same, phase: 'Pending' }, status())).toEqual({
      metadata: { uid: 'u1' },
      status: { phase: 'Running' },
    })
  })

  test('leaves conditions and fields of others', () => {
    const foreign = { ...condition('example.com/gate'), message: 'mine' }
    const before = { conditions: [foreign, condition('Ready', 'False')], nominatedNodeName: 'n2' }
    const patch = patchOf(before, status())
    expect(patch?.status['nominatedNodeName']).toBeUndefined()
    expect(patch?.status['conditions']).toEqual([
      { type: 'Ready', status: 'True' },
      { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: time },
    ])
    expect(patch?.status['$setElementOrder/conditions']).toEqual([
      { type: 'example.com/gate' },
      { type: 'Ready' },
      { type: 'PodScheduled' },
    ])
  })

  test('of a rejected pod leaves the conditions that are there, and sends no empty list', () => {
    const rejected = status({ phase: 'Failed', reason: 'OutOfcpu', conditions: [] })
    expect(patchOf({ phase: 'Pending' }, rejected, false)?.status).toEqual({
      phase: 'Failed',
      reason: 'OutOfcpu',
      startTime: time,
      qosClass: 'BestEffort',
    })
    const before = { phase: 'Pending', conditions: [condition('PodScheduled')] }
    expect(patchOf(before, rejected, false)?.status['conditions']).toBeUndefined()
  })

  test('keeps the first startTime', () => {
    const before = { startTime: '2025-01-01T00:00:00Z' }
    expect(patchOf(before, status())?.status['startTime']).toBeUndefined()
  })

  test('holds a final phase back while something may run, with its reason and its DisruptionTarget', () => {
    const evicted = status({
      phase: 'Failed',
      reason: 'Evicted',
      message: 'low on memory',
      conditions: [condition('DisruptionTarget'), condition('Ready', 'False')],
    })
    const before = { phase: 'Running', conditions: [condition('Ready')], startTime: time }
    const held = patchOf(before, evicted)
    expect(held?.status['phase']).toBeUndefined()
    expect(held?.status['reason']).toBeUndefined()
    expect(held?.status['conditions']).toEqual([{ type: 'Ready', status: 'False' }])
    const sent = patchOf(before, evicted, false)
    expect(sent?.status).toMatchObject({ phase: 'Failed', reason: 'Evicted', message: 'low on memory' })
    expect(sent?.status['conditions']).toContainEqual(condition('DisruptionTarget'))
  })
})

describe('the object of a pod is removed', () => {
  const gone = { deletionTimestamp: time }
  for (const [name, object, finished, removed] of [
    ['once it was deleted, has ended and its end is known', pod({ phase: 'Failed' }, gone), true, true],
    ['not while it ends', pod({ phase: 'Failed' }, gone), false, false],
    ['not before its end is reported', pod({ phase: 'Running' }, gone), true, false],
    ['not without a deletion', pod({ phase: 'Succeeded' }), true, false],
  ] as const)
    test(name, () => expect(mayBeRemoved(object, finished)).toBe(removed))
})
