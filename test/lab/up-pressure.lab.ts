// `keelson up --demo pressure` as a person starts it: the values of its table are those of a real kernel under real pressure.
import assert from 'node:assert/strict'
import { rmdirSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { needsOf } from '../../src/lab/packages.js'
import { freePorts } from '../support/command.js'
import { buildCommandLine, removeCommandLine, startKeelson } from '../support/lab-command.js'
import { isClean, leftoversOf } from '../support/leftovers.js'
import { requires } from '../support/requirements.js'

const leastKeptOn = 60
const mostKeptOff = 15

beforeAll(buildCommandLine)
afterAll(removeCommandLine)

/** The two values of a row of the table at the end. */
function row(output: string, name: string): readonly [off: number, on: number] {
  const table = output.slice(output.indexOf('under memory pressure'))
  const line = table.split('\n').find((l) => l.startsWith(name))
  const [off, on] = [...(line ?? '').slice(name.length).matchAll(/(\d+)/g)].map((m) => Number(m[1]))
  assert.ok(off !== undefined && on !== undefined, `no row ${name} in\n${output}`)
  return [off, on]
}

test('with Memory QoS the cache is kept and the hog throttled; without, it is lost and the hog killed', async (ctx) => {
  requires(ctx, { root: true, packages: [...needsOf('uml', true), 'disk'] })
  const [port = 0] = await freePorts(1)
  const run = startKeelson(['up', '--on', 'lab', '--demo', 'pressure', '--port', String(port)])
  const { code } = await run.ended
  assert.equal(code, 0, `${run.stdout()}\n${run.stderr()}`)
  const output = run.stdout()
  console.log(output.slice(output.indexOf('under memory pressure')))
  const [keptOff, keptOn] = row(output, 'cache: page cache kept')
  expect(keptOn).toBeGreaterThanOrEqual(leastKeptOn)
  expect(keptOff).toBeLessThan(mostKeptOff)
  const [throttledOff, throttledOn] = row(output, 'hog: times throttled')
  expect(throttledOff).toBe(0)
  expect(throttledOn).toBeGreaterThan(0)
  const [killedOff, killedOn] = row(output, 'hog: OOM kills')
  expect(killedOff).toBeGreaterThan(0)
  expect(killedOn).toBe(0)
  // Live: the second phase is watched beside the first, several times.
  expect(output.match(/^ +\d+ s +\d+ % .*\| +\d+ % /gm)?.length).toBeGreaterThan(5)
  const left = leftoversOf(run.dir)
  expect(isClean(left), JSON.stringify(left)).toBe(true)
  rmdirSync(run.dir)
})
