// Help, docs and dashboard use the words of Kubernetes. The list below has words that readers did not understand, or could not
// search for, and what to write instead.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { commands } from '../src/cli/commands.js'
import { processIo } from '../src/cli/io.js'
import { createProgram, descendants } from '../src/cli/program.js'
import { runCommand } from './support/memory-io.js'

interface Banned {
  readonly word: RegExp
  readonly write: string
  /** A text that the pattern must find. */
  readonly such: string
}

const banned: readonly Banned[] = [
  { word: /\bmend(s|ed|ing)?\b/i, write: 'fix', such: 'mend the line' },
  { word: /\bfigures?\b/i, write: 'stats, metrics, values', such: 'no figures yet' },
  { word: /\bbeds?\b/i, write: 'lab machine', such: 'boot a bed' },
  { word: /\bborders?\b/i, write: 'limits and thresholds', such: 'no border is set' },
  { word: /\b(is|are|was|server) away\b/i, write: 'is unreachable', such: 'the runtime is away' },
  { word: /\bway back\b/i, write: 'rollback, rolling back, undo', such: 'the way back' },
  {
    word: /\b(takes?|taken|taking|put|puts) (it|that|this|them|everything|all of it) back\b/i,
    write: 'restores, reverts, undoes',
    such: 'takes everything back',
  },
  { word: /\b(no|some|any|every)body\b/i, write: 'name the subject', such: 'while somebody looks' },
  { word: /\bwho(ever|m)\b/i, write: 'name the subject', such: 'whoever asks' },
  { word: /\bbeats?\b/i, write: 'overrides', such: 'a flag beats the file' },
  { word: /\btells\b|\bis told\b/i, write: 'reports', such: 'the runtime tells its driver' },
  { word: /\bstands (twice|still|for)\b/i, write: 'appears twice, is blocked, means', such: 'stands twice' },
  { word: /\bkeepers?\b/i, write: 'cache, tracker, writer', such: 'a keeper' },
  { word: /\bdear\b/i, write: 'expensive', such: 'page faults are dear' },
  { word: /\bled out\b/i, write: 'forwarded to', such: 'led out to a port' },
  { word: /\bof its own\b/i, write: 'a separate one; mostly omit it', such: 'a file of its own' },
  { word: /\bof another place\b/i, write: 'from this file', such: 'a token of another place' },
  { word: /\bwhere clients come\b/i, write: 'socket to listen on', such: 'where clients come' },
  { word: /\b(answers|yes|no) (are|is) kept\b/i, write: 'cached', such: 'its answers are kept' },
  { word: /\bto know\b(?!n)/i, write: 'notes', such: '3 to know' },
  { word: /\bnot asked\b/i, write: 'skipped, not called', such: '8 not asked' },
  { word: /\btrying again\b/i, write: 'retrying', such: 'trying again' },
  { word: /\bas (it|they) should be\b/i, write: 'in the desired state', such: 'is not as it should be' },
  { word: /\bfor want of\b/i, write: 'because there is no', such: 'for want of a limit' },
  { word: /\bfor ever\b/i, write: 'forever', such: 'stall for ever' },
  { word: /[‘’“”]/, write: 'straight quotes', such: 'the runtime’s' },
]

const root = resolve(import.meta.dirname, '..')

/** Identifiers such as `endpoint-flag-beats-file` keep their names. */
const withoutCode = (markdown: string): string => markdown.replaceAll(/`[^`\n]*`/g, '``')

function complaints(name: string, text: string): string[] {
  return text
    .split('\n')
    .flatMap((line, i) =>
      banned
        .filter(({ word }) => word.test(line))
        .map(
          ({ word, write }) => `${name}:${i + 1}: ${word.exec(line)?.[0]}: write ${write}: ${line.trim()}`,
        ),
    )
}

test.each(banned)('$word finds "$such"', ({ word, such }) => {
  expect(such).toMatch(word)
})

describe('help', () => {
  let paths: string[][] = []
  beforeAll(async () => {
    const program = await createProgram(
      processIo(),
      commands.map((c) => c.name),
    )
    paths = descendants(program).map((command) => {
      const path: string[] = []
      for (let c = command; c.parent !== null; c = c.parent) path.unshift(c.name())
      return path
    })
  })

  test('of every command', async () => {
    expect(paths.length).toBeGreaterThan(40)
    for (const path of [[], ...paths]) {
      const { stdout } = await runCommand([...path, '--help'])
      expect(stdout.length, path.join(' ')).toBeGreaterThan(50)
      expect(complaints(`keelson ${path.join(' ')} --help`, stdout)).toEqual([])
    }
  })

  test('names of checks', async () => {
    expect(complaints('keelson doctor --list', (await runCommand(['doctor', '--list'])).stdout)).toEqual([])
  })
})

const pages = ['README.md', 'CONTRIBUTING.md', ...filesBelow('docs', '.md')]
test.each(pages)('%s', (page) => {
  expect(complaints(page, withoutCode(readFileSync(join(root, page), 'utf8')))).toEqual([])
})

test('the dashboard', () => {
  const bundle = readFileSync(join(root, 'dist/dashboard/app.js'), 'utf8')
  expect(bundle, 'run npm run build').toContain('Retrying every second')
  // CSS properties and elements of HTML are not words for a reader.
  const texts = bundle.replaceAll(/\.border\b|\bborder[:.]|"figure"/g, '').replaceAll(/[;{}]/g, '\n')
  expect(complaints('dist/dashboard/app.js', texts)).toEqual([])
})

function filesBelow(directory: string, suffix: string): string[] {
  return readdirSync(join(root, directory), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(suffix))
    .map((name) => join(directory, name))
}
