// The promise rules are only worth having if they bite: the fixture must fail, line by line.
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')

test('floating and misused promises are errors, also bare readFile and timers', () => {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-lint-'))
  try {
    copyFileSync(join(root, 'test/fixtures/lint/floating.ts'), join(dir, 'floating.ts'))
    symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'))
    writeFileSync(
      join(dir, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: { module: 'nodenext', strict: true, types: ['node'], skipLibCheck: true },
        include: ['floating.ts'],
      }),
    )
    const config = join(root, '.oxlintrc.json')
    const oxlint = join(root, 'node_modules/.bin/oxlint')
    const { stdout, status } = spawnSync(
      oxlint,
      ['--type-aware', '-c', config, '-f', 'unix', 'floating.ts'],
      {
        cwd: dir,
        encoding: 'utf8',
      },
    )
    expect(status, stdout).toBe(1)
    const lines = new Set([...stdout.matchAll(/floating\.ts:(\d+):/g)].map((m) => Number(m[1])))
    expect([...lines].sort((a, b) => a - b)).toEqual([5, 6, 8, 9])
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})

test('the formatter and linter know an explicit any and a default export', () => {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-lint-'))
  try {
    copyFileSync(join(root, 'biome.json'), join(dir, 'biome.json'))
    writeFileSync(join(dir, 'bad.ts'), 'export default (x: any) => x\n')
    execFileSync('git', ['init', '-q'], { cwd: dir })
    const result = spawnSync(join(root, 'node_modules/.bin/biome'), ['lint', '.'], {
      cwd: dir,
      encoding: 'utf8',
    })
    expect(result.status).not.toBe(0)
    expect(result.stdout + result.stderr).toMatch(/noExplicitAny/)
    expect(result.stdout + result.stderr).toMatch(/noDefaultExport/)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})
