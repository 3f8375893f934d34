import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { nodeFlag } from '../../../scripts/package/node-flag.js'

const module = new URL('./small-heap.ts', import.meta.url).href

/** Many objects that live through a few collections, as those of a sample do. */
const work = `
  import { getHeapSpaceStatistics } from 'node:v8'
  let kept = []
  for (let i = 0; i < 400; i += 1) {
    kept.push(Array.from({ length: 2_000 }, (_, n) => ({ n, text: 'sample ' + n + i })))
    if (kept.length > 20) kept = kept.slice(10)
  }
  const space = getHeapSpaceStatistics().find((s) => s.space_name === 'new_space')
  console.log(space.space_size)
`

const keptSmall = `import { keepHeapSmall } from '${module}'; keepHeapSmall()`

const run = promisify(execFile)
const newSpaceMiB = async (before: string, flags: readonly string[] = []): Promise<number> => {
  const script = `${before}\n${work}`
  const { stdout } = await run(
    process.execPath,
    [...flags, '--import', 'tsx', '--input-type=module', '--eval', script],
    { timeout: 60_000 },
  )
  return Number(stdout) / 1024 / 1024
}

test('the space for new objects stays as it starts, where V8 would let it grow', async () => {
  expect(await newSpaceMiB('')).toBeGreaterThan(8)
  expect(await newSpaceMiB(keptSmall)).toBeLessThan(8)
})

test('where Node was started with a bound, it grows up to that', async () => {
  const unbounded = await newSpaceMiB(keptSmall)
  const bounded = await newSpaceMiB(keptSmall, [nodeFlag])
  expect(bounded).toBeGreaterThan(unbounded)
  expect(bounded).toBeLessThanOrEqual(8) // two halves
})

test('this line of Node knows every flag that it is given', async () => {
  const script = `
    import { setTimeout as sleep } from 'node:timers/promises'
    import { keepHeapSmall } from '${module}'
    keepHeapSmall(1)
    await sleep(50)
    console.log('set')`
  const flags = ['--import', 'tsx', '--input-type=module', '--eval', script]
  const { stdout, stderr } = await run(process.execPath, flags, { timeout: 60_000 })
  expect([stdout, stderr]).toEqual(['set\n', ''])
})
