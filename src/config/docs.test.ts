import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { configDocs } from './docs.js'
import { kubeletSchema } from './kubelet-schema.js'
import { upstreamFields } from './upstream-fields.js'

test('docs/config.md is what npm run docs:config writes', () => {
  const page = readFileSync(new URL('../../docs/config.md', import.meta.url), 'utf8')
  expect(page === configDocs(), 'docs/config.md is stale: npm run docs:config').toBe(true)
})

test('no field is both honoured and without effect', () => {
  expect(Object.keys(upstreamFields).filter((name) => name in kubeletSchema)).toEqual([])
})
