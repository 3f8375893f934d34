import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { followFile, lastLinesStart } from './follow-file.js'

const dir = mkdtempSync(join(tmpdir(), 'keelson-follow-'))
afterAll(() => rmSync(dir, { recursive: true }))
const file = join(dir, 'x.log')

test('the last lines begin where they begin', async () => {
  for (const [text, lines, rest] of [
    ['a\nb\nc\n', 2, 'b\nc\n'],
    ['a\nb\nc', 2, 'b\nc'],
    ['a\nb\n', 5, 'a\nb\n'],
    ['', 5, ''],
    ['\n', 5, '\n'],
  ] as const) {
    writeFileSync(file, text)
    expect(text.slice(await lastLinesStart(file, lines)), JSON.stringify(text)).toBe(rest)
  }
})

test('what is appended is copied, a character that is written in two halves too, and the rest at the end', async () => {
  writeFileSync(file, 'old\nnew ')
  let copied = ''
  let isOver = false
  const following = followFile(file, (text) => (copied += text), { from: 4, isOver: () => isOver })
  const euro = Buffer.from('€')
  appendFileSync(file, euro.subarray(0, 1))
  await expect.poll(() => copied).toBe('new ')
  appendFileSync(file, euro.subarray(1))
  await expect.poll(() => copied).toBe('new €')
  appendFileSync(file, ' end\n')
  isOver = true
  await following
  expect(copied).toBe('new € end\n')
})
