// One probe's results and when it runs, as rows.
import { describe, expect, test } from 'vitest'
import type { ProbeType } from '../../../core/pod/spec/handlers.js'
import { containerHealth } from './health.js'
import { isProbeDue, meetContainer, type ProbeState, takeResult } from './probe-state.js'

const thresholds = { successThreshold: 1, failureThreshold: 3 }

function stateAfter(type: ProbeType, results: string, given = thresholds, inherited = false): ProbeState {
  return [...results].reduce(
    (state, one) => takeResult(state, type, given, one === 's' ? 'success' : 'failure'),
    meetContainer(type, 'c1', inherited),
  )
}

describe('results', () => {
  for (const { type, results, result, onHold, given } of [
    { type: 'readiness', results: '', result: 'failure', onHold: false },
    { type: 'readiness', results: 's', result: 'success', onHold: false },
    { type: 'readiness', results: 'sff', result: 'success', onHold: false },
    { type: 'readiness', results: 'sfff', result: 'failure', onHold: false },
    { type: 'readiness', results: 'sffsff', result: 'success', onHold: false },
    {
      type: 'readiness',
      results: 'sfs',
      given: { successThreshold: 2, failureThreshold: 1 },
      result: 'failure',
      onHold: false,
    },
    { type: 'liveness', results: '', result: 'success', onHold: false },
    { type: 'liveness', results: 'ff', result: 'success', onHold: false },
    { type: 'liveness', results: 'fff', result: 'failure', onHold: true },
    { type: 'startup', results: 'ff', result: undefined, onHold: false },
    { type: 'startup', results: 'ffs', result: 'success', onHold: true },
    { type: 'startup', results: 'fff', result: 'failure', onHold: true },
  ] as const)
    test(`${type} ${results === '' ? 'at first' : results}: ${result}`, () =>
      expect(stateAfter(type, results, given ?? thresholds)).toMatchObject({ result, onHold }))
})

describe('when a probe runs', () => {
  const moment = {
    type: 'liveness' as ProbeType,
    initialDelaySeconds: 5,
    onHold: false,
    runningNanos: 5_000_000_000n as bigint | undefined,
    started: true,
  }
  for (const { name, more, due } of [
    { name: 'its delay has passed', more: {}, due: true },
    { name: 'its delay has not passed', more: { runningNanos: 4_999_999_999n }, due: false },
    { name: 'nothing runs', more: { runningNanos: undefined }, due: false },
    { name: 'its verdict is given', more: { onHold: true }, due: false },
    { name: 'the container has not started', more: { started: false }, due: false },
    { name: 'a startup probe before', more: { type: 'startup', started: false }, due: true },
    { name: 'a startup probe after', more: { type: 'startup' }, due: false },
  ] as const)
    test(name, () => expect(isProbeDue({ ...moment, ...more })).toBe(due))
})

describe('the health of a container', () => {
  test('without probes it is well', () =>
    expect(containerHealth({}, undefined)).toEqual({ started: true, ready: true, failed: undefined }))

  test('not ready before it has started, whatever readiness says', () =>
    expect(
      containerHealth(
        { startup: stateAfter('startup', 'f'), readiness: stateAfter('readiness', 's') },
        undefined,
      ),
    ).toEqual({ started: false, ready: false, failed: undefined }))

  test('the probe that wants it killed', () => {
    expect(containerHealth({ liveness: stateAfter('liveness', 'fff') }, undefined).failed).toBe('liveness')
    expect(containerHealth({ startup: stateAfter('startup', 'fff') }, undefined).failed).toBe('startup')
  })

  test('a restart of the kubelet keeps what was known until a probe says otherwise', () => {
    const states = {
      startup: stateAfter('startup', '', thresholds, true),
      readiness: stateAfter('readiness', 'ff', thresholds, true),
    }
    expect(containerHealth(states, { started: true, ready: true })).toMatchObject({
      started: true,
      ready: true,
    })
    expect(containerHealth(states, { started: true, ready: false })).toMatchObject({
      started: true,
      ready: false,
    })
    expect(containerHealth(states, undefined)).toMatchObject({ started: false, ready: false })
    const failed = { ...states, readiness: stateAfter('readiness', 'fff', thresholds, true) }
    expect(containerHealth(failed, { started: true, ready: true })).toMatchObject({
      started: true,
      ready: false,
    })
  })
})
