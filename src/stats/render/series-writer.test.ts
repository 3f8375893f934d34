// Which families and label sets are switched on.
import { expect, test } from 'vitest'
import { processFamilies } from '../catalogue/process.js'
import { decideSwitches } from './series-writer.js'

test('switches: off by default, on by request, and off by request', () => {
  const { name } = processFamilies.container_tasks_state
  expect(decideSwitches().disabledFamilies).toEqual(new Set([name]))
  expect(decideSwitches({ enable: [name], disable: ['container_sockets'] }).disabledFamilies).toEqual(
    new Set(['container_sockets']),
  )
  expect(decideSwitches({ rows: { pods: false } }).rows).toEqual({ pods: false, slices: true, node: true })
})
