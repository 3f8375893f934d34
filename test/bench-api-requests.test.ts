import { expect, test } from 'vitest'
import { countRequests, sumOf } from '../bench/api-requests/audit.js'

const line = (username: string, verb: string, second: number, objectRef?: object): string =>
  JSON.stringify({
    verb,
    requestReceivedTimestamp: `2026-11-16T07:00:0${second}.000000Z`,
    user: { username },
    ...(objectRef === undefined ? {} : { objectRef }),
  })

test('requests of one user within the window, by verb and resource; half a line is left out', () => {
  const text = [
    line('system:node:a', 'update', 1, { resource: 'leases' }),
    line('system:node:a', 'update', 2, { resource: 'leases' }),
    line('system:node:b', 'update', 2, { resource: 'leases' }),
    line('system:node:a', 'patch', 3, { resource: 'nodes', subresource: 'status' }),
    line('system:node:a', 'get', 9, { resource: 'nodes' }),
    '{"verb":"upd',
  ].join('\n')
  const at = (second: number): number => Date.parse(`2026-11-16T07:00:0${second}Z`)
  const counts = countRequests(text, 'system:node:a', at(2), at(9))
  expect([...counts]).toEqual([
    ['update leases', 1],
    ['patch nodes/status', 1],
  ])
  expect(sumOf(counts)).toBe(2)
})
