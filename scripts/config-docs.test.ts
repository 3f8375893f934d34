import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { configDocs } from './config-docs.js'

test('docs/config.md is what npm run docs:config writes', () => {
  const page = readFileSync(new URL('../docs/config.md', import.meta.url), 'utf8')
  expect(page === configDocs(), 'docs/config.md is stale: npm run docs:config').toBe(true)
})
