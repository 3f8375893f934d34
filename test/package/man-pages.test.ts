// Manual pages and completion scripts of the packages: one page per command, readable by man without a complaint.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { completionFiles, manFiles } from '../../scripts/package/command-line.js'
import { commands } from '../../src/cli/commands.js'
import { requires } from '../support/requirements.js'

const release = { version: '1.2.3', date: new Date(0) }

const pages = async (): Promise<Map<string, string>> =>
  new Map(
    (await manFiles(release)).map((f) => [
      f.path.replace(/^man\/man1\/|\.gz$/g, ''),
      'data' in f ? gunzipSync(f.data).toString() : '',
    ]),
  )

test('every command and every subcommand has a page', async () => {
  const all = await pages()
  for (const { name, summary } of commands)
    expect(all.get(`keelson-${name}.1`)?.replaceAll('\\-', '-'), name).toContain(summary)
  expect(all.get('keelson-cri-install.1')).toContain('\\-\\-dry\\-run')
  expect(all.get('keelson-kubelet.1')).toContain('\\-\\-config\\-dir')
  expect(all.get('keelson.1')).toContain('"keelson 1.2.3"')
})

test('man prints each page without a warning', async (ctx) => {
  requires(ctx, { commands: ['man', 'groff'] })
  const dir = mkdtempSync(join(tmpdir(), 'keelson-man-'))
  try {
    const files = [...(await pages())].map(([name, text]) => {
      writeFileSync(join(dir, name), text)
      return join(dir, name)
    })
    const run = spawnSync('groff', ['-man', '-Tutf8', '-ww', '-rLL=110n', ...files], { encoding: 'utf8' })
    expect(run.stderr).toBe('')
    expect(run.status).toBe(0)
  } finally {
    rmSync(dir, { recursive: true })
  }
})

test('completion for the three shells', async () => {
  const files = await completionFiles()
  expect(files.map((f) => f.path)).toEqual([
    'bash-completion/completions/keelson',
    'zsh/vendor-completions/_keelson',
    'fish/vendor_completions.d/keelson.fish',
  ])
  for (const f of files) expect('data' in f && Buffer.from(f.data).toString()).toContain('explain')
})
