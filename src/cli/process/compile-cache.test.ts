import { statSync } from 'node:fs'
import module from 'node:module'
import { expect, test } from 'vitest'
import { requires } from '../../../test/support/requirements.js'
import { useCompileCache } from './compile-cache.js'

const { getCompileCacheDir } = module as { readonly getCompileCacheDir?: () => string | undefined }

test('a command of one moment leaves no compiled code behind', () => {
  const before = getCompileCacheDir?.()
  useCompileCache('get')
  useCompileCache(undefined)
  expect(getCompileCacheDir?.()).toBe(before)
})

test('a daemon of root keeps its compiled code where only root writes', (ctx) => {
  requires(ctx, { root: true })
  useCompileCache('kubelet')
  // Node 20 has no such cache.
  if (getCompileCacheDir === undefined) return
  expect(getCompileCacheDir()).toMatch(/^\/var\/cache\/keelson\/compiled/)
  expect(statSync('/var/cache/keelson/compiled').mode & 0o022).toBe(0)
})
