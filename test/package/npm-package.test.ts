// The npm package as a user gets it: installed from its file with an empty cache and no registry, then run.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, normalize } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildPackages } from '../../scripts/package/build-packages.js'

const dir = mkdtempSync(join(tmpdir(), 'keelson-npm-package-'))
const signal = AbortSignal.timeout(170_000)
const installed = join(dir, 'place/node_modules/keelson')

async function build(out: string): Promise<string> {
  const built = []
  for await (const { path } of buildPackages(out, ['npm'], signal)) built.push(path)
  return built[0] ?? ''
}

let tarball = ''

beforeAll(async () => {
  tarball = await build(join(dir, 'first'))
  mkdirSync(join(dir, 'place'))
  writeFileSync(join(dir, 'place/package.json'), '{"private":true}')
  const env = {
    ...process.env,
    npm_config_cache: join(dir, 'cache'),
    npm_config_registry: 'http://127.0.0.1:9',
  }
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], {
    cwd: join(dir, 'place'),
    env,
    stdio: 'pipe',
  })
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const filesBelow = (at: string): string[] =>
  readdirSync(at, { recursive: true, withFileTypes: true })
    .filter((e) => e.isFile())
    .map((e) => join(e.parentPath, e.name))

test('installs offline: one package, no dependencies, no install scripts, at most 16 MB', () => {
  expect(readdirSync(join(dir, 'place/node_modules')).filter((n) => !n.startsWith('.'))).toEqual(['keelson'])
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Record<
    string,
    unknown
  >
  for (const key of ['dependencies', 'devDependencies', 'scripts']) expect(manifest).not.toHaveProperty(key)
  const bytes = filesBelow(installed).reduce((sum, path) => sum + statSync(path).size, 0)
  expect(bytes).toBeLessThan(16e6)
})

test('the line of --help works as it is printed: the examples are in the package', () => {
  const keelson = join(dir, 'place/node_modules/.bin/keelson')
  const run = (...args: string[]) => spawnSync(keelson, args, { cwd: installed, encoding: 'utf8' })
  const line = /^ {2}keelson (explain -f .*)$/m.exec(run('--help').stdout)?.[1]?.split(' ') ?? []
  const explained = run(...line)
  expect(explained.status, explained.stderr).toBe(0)
  expect(explained.stdout).toContain('memory.high')
  expect(run('completion', 'bash').stdout).toContain('complete')
  // Loads gRPC, the protobuf codec and the checks.
  expect([0, 3, 4]).toContain(run('doctor').status)
})

test('the library is in it, with its types', async () => {
  const script = "import { parseQuantity } from 'keelson/core'; console.log(typeof parseQuantity)"
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: join(dir, 'place'),
    encoding: 'utf8',
  })
  expect(printed.trim()).toBe('function')
  expect(statSync(join(installed, 'dist/core/index.d.ts')).isFile()).toBe(true)
})

test('every link of the pages in the package leads to a file of the package', () => {
  const pages = filesBelow(installed).filter((path) => path.endsWith('.md'))
  const broken = pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
      .map((m) => m[1] ?? '')
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter(
        (link) => statSync(normalize(join(dirname(page), link)), { throwIfNoEntry: false }) === undefined,
      )
      .map((link) => `${page.slice(installed.length + 1)}: ${link}`),
  )
  expect(pages.length).toBeGreaterThan(30)
  expect(broken).toEqual([])
})

test('a second build has the same bytes', async () => {
  const again = await build(join(dir, 'second'))
  expect(readFileSync(again).equals(readFileSync(tarball))).toBe(true)
  const names = (path: string): string =>
    execFileSync('tar', ['-tf', '-'], { input: gunzipSync(readFileSync(path)), encoding: 'utf8' })
  expect(names(again)).toContain('package/examples/pods.yaml')
  const sums = (out: string): string => readFileSync(join(dir, out, 'SHA256SUMS'), 'utf8')
  expect(sums('second')).toBe(sums('first'))
  execFileSync('sha256sum', ['--check', '--status', 'SHA256SUMS'], { cwd: join(dir, 'first') })
})
