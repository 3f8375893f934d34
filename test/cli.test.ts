// The command line as a whole: help, version, near misses, and completion scripts that real shells accept.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { commands } from '../src/cli/commands.js'
import { runCommand } from './support/memory-io.js'

const root = resolve(import.meta.dirname, '..')
const bundle = resolve(root, 'dist/cli/main.js')
const keelson = (...argv: string[]) => spawnSync(process.execPath, [bundle, ...argv], { encoding: 'utf8' })

beforeAll(() => {
  // `npm test` builds first; a build from here would pull the files away from under other tests.
  expect(existsSync(bundle), 'dist/ is missing: run npm run build').toBe(true)
})

describe('the bundle', () => {
  test('--version is the version of the package', () => {
    const { version } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')) as { version: string }
    expect(keelson('--version').stdout.trim()).toBe(version)
  })

  test('no arguments and --help show every command', () => {
    for (const argv of [[], ['--help']]) {
      const ran = keelson(...argv)
      expect(ran.status).toBe(0)
      for (const { name } of commands) expect(ran.stdout).toContain(`  ${name}`)
    }
  })

  test('each command has help of its own with a description', () => {
    for (const { name } of commands) {
      const ran = keelson(name, '--help')
      expect(ran.status, `${name}: ${ran.stderr}`).toBe(0)
      expect(ran.stdout, name).toMatch(new RegExp(`Usage: keelson ${name}`))
      expect(ran.stdout.length, name).toBeGreaterThan(200)
    }
  })

  test('a near miss is told the right name, exit status 2', () => {
    const ran = keelson('explian')
    expect(ran.status).toBe(2)
    expect(ran.stderr).toContain('explain')
    expect(ran.stderr).toContain('[usage.invalid]')
    expect(ran.stderr.trimEnd().split('\n')).toHaveLength(1)
  })
})

describe('completion', () => {
  /** What bash offers after these words, the last one being completed. */
  const complete = (...words: string[]): string[] => {
    const script = keelson('completion', 'bash').stdout
    const quoted = words.map((w) => `'${w}'`).join(' ')
    const ask = `${script}\nCOMP_WORDS=(keelson ${quoted}); COMP_CWORD=${words.length}; _keelson; printf '%s\\n' "\${COMPREPLY[@]}"`
    const ran = spawnSync('bash', ['-c', ask], { encoding: 'utf8' })
    expect(ran.status, ran.stderr).toBe(0)
    return ran.stdout.trim().split('\n')
  }

  test('bash completes commands, subcommands and options', () => {
    expect(complete('exp')).toEqual(['explain'])
    expect(complete('explain', '--page')).toEqual(['--page-size'])
    expect(complete('lab', 'r')).toContain('run')
  })

  test('zsh and fish get scripts for the same tree', async () => {
    for (const shell of ['zsh', 'fish']) {
      const ran = await runCommand(['completion', shell])
      expect(ran.status).toBe(0)
      expect(ran.stdout).toContain('explain')
      expect(ran.stdout).toContain('page-size')
    }
  })

  test('another shell is refused with the choices', async () => {
    const ran = await runCommand(['completion', 'tcsh'])
    expect(ran.status).toBe(2)
    expect(ran.stderr).toMatch(/bash, zsh, fish/)
  })
})
