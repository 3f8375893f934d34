import { expect, test } from 'vitest'
import { orderWrites, type PendingWrite } from './order.js'

const write = (
  id: string,
  level: PendingWrite['level'],
  depth: number,
  file: PendingWrite['file'],
  value: string,
  grows: boolean,
): PendingWrite => ({ id, level, depth, file, value, grows })

test('Hard to Tiered: low grows from the top, containers in one call, min shrinks from the bottom', () => {
  const steps = orderWrites([
    write('kubepods', 'kubepods', 1, 'memory.low', '8192', true),
    write('c', 'container', 4, 'memory.min', '0', false),
    write('c', 'container', 4, 'memory.low', '4096', true),
    write('pod', 'pod', 3, 'memory.min', '0', false),
    write('pod', 'pod', 3, 'memory.low', '4096', true),
    write('burstable', 'qos', 2, 'memory.min', '0', false),
    write('burstable', 'qos', 2, 'memory.low', '8192', true),
  ])
  expect(steps.map((s) => `${s.id} ${JSON.stringify(s.values)}`)).toEqual([
    'kubepods {"memory.low":"8192"}',
    'burstable {"memory.low":"8192"}',
    'pod {"memory.low":"4096"}',
    'c {"memory.min":"0","memory.low":"4096"}',
    'pod {"memory.min":"0"}',
    'burstable {"memory.min":"0"}',
  ])
})
