import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemError } from './system-error.js'

test('what the system refuses has a code and says what to do', () => {
  const directory = mkdtempSync(join(tmpdir(), 'keelson-system-error-'))
  try {
    writeFileSync(join(directory, 'file'), '')
    const path = join(directory, 'file/below')
    let caught: unknown
    try {
      mkdirSync(path)
    } catch (e) {
      caught = e
    }
    expect(systemError(caught)).toMatchObject({
      code: 'system.refused',
      message: `mkdir ${path}: a part of the path is not a directory; check the path`,
    })
  } finally {
    rmSync(directory, { recursive: true })
  }
})

test('a bug stays a bug', () => {
  expect(systemError(new TypeError('x is undefined'))).toBeUndefined()
  expect(systemError(Object.assign(new Error('y'), { code: 'ENOENT', syscall: 'open' }))).toBeUndefined()
  expect(systemError('text')).toBeUndefined()
})
