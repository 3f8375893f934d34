// The command line as a whole: help, version, near misses, and completion scripts that real shells accept.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { commands } from '../../src/cli/commands.js'
import { runCommand } from '../support/memory-io.js'

const root = resolve(import.meta.dirname, '../..')
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

  test('kubelet --version is what the profile says: our version, or a release of Kubernetes', () => {
    const { version } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')) as { version: string }
    expect(keelson('kubelet', '--version').stdout).toBe(`keelson ${version}\n`)
    const dir = mkdtempSync(join(tmpdir(), 'keelson-cli-'))
    try {
      const file = join(dir, 'keelson.yaml')
      const text = 'apiVersion: keelson.dev/v1alpha1\nkind: KeelsonConfiguration\nprofile: upstream\n'
      writeFileSync(file, `${text}kubernetesVersion: "1.37.1"\n`)
      expect(keelson('kubelet', '--keelson-config', file, '--version').stdout).toBe('Kubernetes v1.37.1\n')
      const flag = ['--kubernetes-version', '1.36.2']
      expect(keelson('kubelet', ...flag, '--keelson-config', file, '--version').stdout).toBe(
        'Kubernetes v1.36.2\n',
      )
    } finally {
      rmSync(dir, { recursive: true })
    }
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

test('a runtime endpoint that cannot be one is bad input: exit status 2 for every command', () => {
  for (const argv of [
    ['top', '--runtime-endpoint', 'tcp://'],
    ['kubelet', '--container-runtime-endpoint', 'tcp://x'],
    ['node', 'init', '--cri-socket', 'ftp://x'],
    ['cri', '--runtime-endpoint', 'tcp://x', '--listen', 'unix:///run/x.sock'],
  ]) {
    const ran = keelson(...argv)
    expect(ran.stderr, argv.join(' ')).toMatch(/\[(runtime\.endpoint|usage\.invalid|config\.invalid)\]/)
    expect(ran.status, argv.join(' ')).toBe(2)
  }
})

describe('what a terminal shows', () => {
  test('a reader that leaves early ends the command without a word', () => {
    // By the time of the first write the other end is closed, every time.
    const line = `(sleep 0.2; exec '${process.execPath}' '${bundle}' kubelet --help) | true; exit "\${PIPESTATUS[0]}"`
    const ran = spawnSync('bash', ['-c', line], { encoding: 'utf8' })
    expect(ran.stderr).toBe('')
    expect(ran.status).toBe(141)
  })

  test('options and paragraphs fit into 80 columns, and commands to copy are whole', () => {
    for (const { name } of commands.filter((c) => c.name !== 'kubelet')) {
      const options = keelson(name, '--help').stdout.split(/^Options:$/m)[1] ?? ''
      const listed = options.split('\n\n')[0] ?? ''
      for (const line of listed.split('\n')) expect(line.length, `${name}: ${line}`).toBeLessThanOrEqual(80)
    }
    expect(keelson('token', '--help').stdout).toContain(
      '"Authorization: Bearer $(keelson token)" https://127.0.0.1:10250/metrics\n',
    )
  })

  test('a list that may stay empty shows no default', () => {
    expect(keelson('doctor', '--help').stdout).not.toContain('(default: [])')
  })

  test('a wrong choice is one sentence', () => {
    expect(keelson('doctor', '-o', 'xml').stderr).toMatch(/Allowed choices are table, json; see --help/)
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
    expect(complete('up', '')).toEqual(['status', 'down', 'logs'])
    expect(complete('doctor', 'explain', 'sw')).toEqual(['swap'])
    expect(complete('kubelet', '--container-runtime')).toContain('--container-runtime-endpoint')
    expect(complete('up', '--ins')).toEqual([''])
  })

  test('bash completes values of options and arguments', () => {
    expect(complete('up', '--on', '')).toEqual(['host', 'lab'])
    expect(complete('top', '--sort', 'thr')).toEqual(['throttle'])
    expect(complete('get', 'pods', '-o', 'w')).toEqual(['wide'])
    expect(complete('get', 'p')).toEqual(['pods'])
    expect(complete('doctor', '--checks', 'swa')).toEqual(['swap'])
    expect(complete('completion', '')).toEqual(['bash', 'zsh', 'fish'])
    // As bash splits --on=l
    expect(complete('up', '--on', '=', 'l')).toEqual(['lab'])
    expect(complete('get', 'pods', '-n', '')).toEqual([''])
  })

  test('bash completes files, names with blanks too, where an option or a command takes them', () => {
    const dir = mkdtempSync(join(tmpdir(), 'keelson-completion-'))
    try {
      writeFileSync(join(dir, 'a pod.yaml'), '')
      writeFileSync(join(dir, 'b.yaml'), '')
      const files = [join(dir, 'a pod.yaml'), join(dir, 'b.yaml')]
      for (const words of [
        ['explain', '-f'],
        ['explain', '--filename'],
        ['up', '--image-tar'],
        ['kubelet', '--config'],
        ['exec', 'web', '--', 'cat'],
      ])
        expect(complete(...words, `${dir}/`).toSorted(), words.join(' ')).toEqual(files)
    } finally {
      rmSync(dir, { recursive: true })
    }
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
