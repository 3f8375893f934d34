import { describe, expect, test } from 'vitest'
import { decideConditions, type Pressure } from './conditions.js'
import { readyProblems } from './ready-problems.js'

const none: Pressure = { memory: false, disk: false, pid: false }
const at = (n: number): string => `2026-01-01T00:00:0${n}Z`
const first = decideConditions({ before: [], pressure: none, problems: [], now: at(0) })

describe('conditions', () => {
  test('of a new Node: four, Ready the last, each with its event', () => {
    expect(first.conditions.map((c) => [c.type, c.status, c.reason, c.message])).toEqual([
      ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
      ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
      ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
      ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
    ])
    expect(first.events).toEqual([
      'NodeHasSufficientMemory',
      'NodeHasNoDiskPressure',
      'NodeHasSufficientPID',
      'NodeReady',
    ])
    const notYet = decideConditions({ before: [], pressure: none, problems: ['x'], now: at(0) })
    expect(notYet.events).not.toContain('NodeNotReady')
  })

  test('nothing new: only the heartbeat moves', () => {
    const again = decideConditions({ before: first.conditions, pressure: none, problems: [], now: at(5) })
    expect(again.events).toEqual([])
    for (const c of again.conditions)
      expect([c.lastHeartbeatTime, c.lastTransitionTime]).toEqual([at(5), at(0)])
  })

  test('changes have their events and times; conditions of others stay where they are', () => {
    const other = { type: 'KernelDeadlock', status: 'False' }
    const before = [other, ...first.conditions]
    const ill = decideConditions({
      before,
      pressure: { memory: true, disk: true, pid: true },
      problems: ['a', 'b', 'a'],
      now: at(5),
    })
    expect(ill.conditions[0]).toEqual(other)
    expect(ill.conditions.slice(1).map((c) => [c.status, c.reason, c.lastTransitionTime])).toEqual([
      ['True', 'KubeletHasInsufficientMemory', at(5)],
      ['True', 'KubeletHasDiskPressure', at(5)],
      ['True', 'KubeletHasInsufficientPID', at(5)],
      ['False', 'KubeletNotReady', at(5)],
    ])
    expect(ill.conditions[4]?.message).toBe('[a, b]')
    expect(ill.events).toEqual([
      'NodeHasInsufficientMemory',
      'NodeHasDiskPressure',
      'NodeHasInsufficientPID',
      'NodeNotReady',
    ])
    const well = decideConditions({ before: ill.conditions, pressure: none, problems: [], now: at(7) })
    expect(well.events.at(-1)).toBe('NodeReady')
  })

  test('what the controller manager wrote after silence (Unknown) is taken back', () => {
    const before = first.conditions.map((c) => ({ ...c, status: 'Unknown', reason: 'NodeStatusUnknown' }))
    const back = decideConditions({ before, pressure: none, problems: [], now: at(5) })
    expect(back.conditions.map((c) => c.status)).toEqual(['False', 'False', 'False', 'True'])
    expect(back.events).toContain('NodeReady')
  })
})

describe('ready problems', () => {
  const capacity = { cpu: '1', memory: '1', pods: '1', 'ephemeral-storage': '1' }
  const good = [
    { type: 'RuntimeReady', status: true, reason: '', message: '' },
    { type: 'NetworkReady', status: true, reason: '', message: '' },
  ]
  const of = (
    healthyAgoMs: number | undefined,
    conditions: typeof good | undefined,
    unhealthy: string[] = [],
  ) => readyProblems({ runtime: { healthyAgoMs, conditions }, unhealthy, capacity })

  test('none', () => expect(of(29_999, good)).toEqual([]))
  test('before the first answer', () =>
    expect(of(undefined, undefined)).toEqual([
      'container runtime status check may not have completed yet',
      'network state unknown',
    ]))
  test('not heard of for 30 s', () => expect(of(30_000, good)).toEqual(['container runtime is down']))
  test('conditions of the runtime, missing ones too', () =>
    expect(of(0, [{ type: 'RuntimeReady', status: false, reason: 'R', message: 'm' }])).toEqual([
      'container runtime not ready: RuntimeReady=false reason:R message:m',
      'container runtime network not ready: nil',
    ]))
  test('health checks', () =>
    expect(of(0, good, ['PLEG is not healthy: x'])).toEqual(['PLEG is not healthy: x']))
  test('capacity that is not known', () =>
    expect(
      readyProblems({
        runtime: { healthyAgoMs: 0, conditions: good },
        unhealthy: [],
        capacity: { cpu: '1' },
      }),
    ).toEqual(['missing node capacity for resources: memory, pods, ephemeral-storage']))
})
