import { describe, expect, test } from 'vitest'
import { ContainerEventType, ContainerState } from '../../cri-api/api.js'
import { containerStage, eventsBetween } from './stages.js'

const {
  CONTAINER_CREATED_EVENT: created,
  CONTAINER_STARTED_EVENT: started,
  CONTAINER_STOPPED_EVENT: stopped,
  CONTAINER_DELETED_EVENT: deleted,
} = ContainerEventType

describe('events between two looks', () => {
  for (const [title, told, now, wasStarted, events] of [
    ['nothing happened', 'started', 'started', true, []],
    ['a new one', undefined, 'created', false, [created]],
    ['one that ran and ended between two looks', undefined, 'stopped', true, [created, started, stopped]],
    ['one that could not be started', 'created', 'stopped', false, [stopped]],
    ['one that ended', 'started', 'stopped', true, [stopped]],
    ['one that ended and was removed', 'started', 'deleted', true, [stopped, deleted]],
    ['one that is behind what was told: nothing is taken back', 'stopped', 'started', true, []],
  ] as const)
    test(title, () => expect(eventsBetween(told, now, wasStarted)).toEqual(events))

  test('a state that the runtime does not know is not told', () => {
    expect(containerStage(ContainerState.CONTAINER_UNKNOWN)).toBeUndefined()
  })
})
