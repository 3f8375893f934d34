// Every error code is explained, and every explained code exists.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { errorCodes } from '../src/core/errors.js'

test('docs/errors.md has a row for each code and no other', () => {
  const page = readFileSync(resolve(import.meta.dirname, '../docs/errors.md'), 'utf8')
  const rows = [...page.matchAll(/^\| `([a-z0-9.-]+)` \| ([^|]+) \| ([^|]+) \|$/gm)]
  expect(rows.map((r) => r[1]).sort()).toEqual([...errorCodes].sort())
})
