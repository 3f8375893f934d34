// Compares text with a stored file, whole. `UPDATE_GOLDEN=1` writes it instead; the diff is then reviewed.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { expect } from 'vitest'

export function expectGolden(name: string, text: string): void {
  const path = resolve(import.meta.dirname, '../golden', name)
  if (process.env.UPDATE_GOLDEN === '1') {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  expect(existsSync(path), `${path} is missing; UPDATE_GOLDEN=1 writes it`).toBe(true)
  expect(text).toBe(readFileSync(path, 'utf8'))
}
