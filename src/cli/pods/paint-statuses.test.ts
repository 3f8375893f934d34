import { expect, test } from 'vitest'
import type { PodJson } from '../../core/pod/document.js'
import { painter } from '../colour.js'
import { paintStatuses } from './paint-statuses.js'

const pod = (phase: string): PodJson =>
  ({
    metadata: { namespace: 'default', name: 'web', uid: 'u', creationTimestamp: null },
    spec: {},
    status: { phase, containerStatuses: [] },
  }) as unknown as PodJson

const table = 'NAME   STATUS    AGE\nweb    Running   5s\ndb     Failed    5s\njob    Pending   5s\n'
const pods = ['Running', 'Failed', 'Pending'].map(pod)
const io = (isTTY: boolean, env: Record<string, string> = {}) => ({
  stdout: { write: () => undefined, isTTY },
  env,
})

test('a terminal gets the column in colour, and the columns stay where they are', () => {
  expect(paintStatuses(table, pods, painter(io(true)))).toBe(
    'NAME   STATUS    AGE\nweb    \x1b[32mRunning\x1b[0m   5s\ndb     \x1b[31mFailed\x1b[0m    5s\njob    \x1b[33mPending\x1b[0m   5s\n',
  )
})

test('a pipe, NO_COLOR and a dumb terminal get plain text', () => {
  for (const plain of [io(false), io(true, { NO_COLOR: '1' }), io(true, { TERM: 'dumb' })])
    expect(paintStatuses(table, pods, painter(plain))).toBe(table)
})
