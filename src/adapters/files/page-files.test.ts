import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { buildDashboard } from '../../../scripts/dashboard.mjs'
import { readPage } from './page-files.js'

test('each file of the dashboard has a compressed form of the same bytes', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'keelson-page-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  await buildDashboard(directory)
  const files = [...(readPage(directory) ?? [])]
  expect(files.map(([name]) => name)).toEqual(['index.html', 'app.js', 'app.css', 'icon.svg'])
  for (const [name, { body, gzip }] of files) expect(gunzipSync(gzip).equals(body), name).toBe(true)
})
