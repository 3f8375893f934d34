import {
  chmodSync,
  chownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FakeLog } from '../../fakes/log.js'
import { createLocalToken, ensureLocalToken, readLocalToken } from './local-token.js'

let directory: string
let path: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'keelson-token-'))
  path = join(directory, 'deep', 'token')
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const insecure = expect.objectContaining({ code: 'token.insecure' })

describe('the local token file', () => {
  test('is made once, mode 0600, with nothing left beside it', () => {
    ensureLocalToken(path)
    const first = readFileSync(path, 'utf8')
    ensureLocalToken(path)
    expect(readFileSync(path, 'utf8')).toBe(first)
    expect(statSync(path).mode & 0o7777).toBe(0o600)
    expect(readdirSync(join(directory, 'deep'))).toEqual(['token'])
    expect(Buffer.from(first.trim(), 'base64url')).toHaveLength(32)
  })

  test('is not believed when others could read or write it', () => {
    ensureLocalToken(path)
    for (const mode of [0o644, 0o640, 0o602, 0o610]) {
      chmodSync(path, mode)
      expect(() => readLocalToken(path), mode.toString(8)).toThrow(insecure)
      expect(() => ensureLocalToken(path)).toThrow(insecure)
    }
  })

  test('is not believed when it is a link, a directory, too short or of somebody else', (ctx) => {
    ensureLocalToken(path)
    symlinkSync(path, join(directory, 'link'))
    expect(() => readLocalToken(join(directory, 'link'))).toThrow(insecure)
    expect(() => readLocalToken(directory)).toThrow(insecure)
    writeFileSync(path, 'short\n')
    expect(() => readLocalToken(path)).toThrow(insecure)
    if (process.getuid?.() !== 0) return ctx.skip('only root can give a file away')
    ensureLocalToken(join(directory, 'other'))
    chownSync(join(directory, 'other'), 65534, 65534)
    expect(() => readLocalToken(join(directory, 'other'))).toThrow(insecure)
  })

  test('changes are seen at the next question, and a bad state is logged once', () => {
    const log = new FakeLog()
    const token = createLocalToken(path, log)
    const first = token.current()
    expect(first).toBeDefined()
    chmodSync(path, 0o644)
    expect([token.current(), token.current(), token.current()]).toEqual([undefined, undefined, undefined])
    expect(log.messages('error')).toHaveLength(1)
    chmodSync(path, 0o600)
    expect(token.current()).toBe(first)
    rmSync(path)
    expect(token.current()).toBeUndefined()
  })
})
