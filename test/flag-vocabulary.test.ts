// One vocabulary of flags: the same setting has the same name in every command, and every old name still works.
import type { Command } from 'commander'
import { beforeAll, describe, expect, test } from 'vitest'
import { commands } from '../src/cli/commands.js'
import { processIo } from '../src/cli/io.js'
import { OptionAlias } from '../src/cli/option-alias.js'
import { createProgram, descendants } from '../src/cli/program.js'
import { flagTable } from '../src/config/flag-table.js'
import { flagAliases, splitFlags } from '../src/config/flag-words.js'

interface Setting {
  readonly name: string
  /** Names that must not be used for it. */
  readonly not: readonly string[]
  /** Commands that follow another program's flags, and the name that is that program's. */
  readonly upstream?: Readonly<Record<string, string>>
}

const settings: readonly Setting[] = [
  {
    name: '--runtime-endpoint',
    not: ['--container-runtime-endpoint', '--upstream', '--endpoint', '--cri-socket', '--runtime-socket'],
    upstream: { node: '--cri-socket' },
  },
  { name: '--image-endpoint', not: ['--image-upstream', '--image-service-endpoint'] },
  { name: '--log-format', not: ['--logging-format', '--logs', '--log'] },
  { name: '--output', not: ['--format', '--form'] },
  { name: '--token-file', not: ['--file', '--token'] },
  { name: '--machine', not: ['--bed'] },
  { name: '--node-name', not: ['--hostname', '--name'] },
  { name: '--cgroup-mount', not: ['--cgroup-root', '--cgroup-dir'] },
  { name: '--proc-mount', not: ['--proc', '--proc-dir'] },
  { name: '--dry-run', not: ['--dryrun', '--simulate'] },
  { name: '--force', not: ['--yes', '--assume-yes'] },
]

/** Every old name that a command has had. */
const oldNames: readonly (readonly [path: string, old: string, name: string])[] = [
  ['up', '--container-runtime-endpoint', '--runtime-endpoint'],
  ['doctor', '--container-runtime-endpoint', '--runtime-endpoint'],
  ['doctor series', '--container-runtime-endpoint', '--runtime-endpoint'],
  ['doctor parity', '--container-runtime-endpoint', '--runtime-endpoint'],
  ['companion', '--container-runtime-endpoint', '--runtime-endpoint'],
  ['companion', '--logging-format', '--log-format'],
  ['companion rollback', '--container-runtime-endpoint', '--runtime-endpoint'],
  ['companion rollback', '--logging-format', '--log-format'],
  ['cri', '--upstream', '--runtime-endpoint'],
  ['cri', '--image-upstream', '--image-endpoint'],
  ['cri', '--logging-format', '--log-format'],
  ['cri install', '--upstream', '--runtime-endpoint'],
  ['token', '--file', '--token-file'],
  ['lab run', '--bed', '--machine'],
  ['lab run', '-o', '--out'],
  ['lab shell', '--bed', '--machine'],
  ['lab shell', '-o', '--out'],
]

const pathOf = (command: Command): string =>
  command.parent === null || command.parent.parent === null
    ? command.name()
    : `${pathOf(command.parent)} ${command.name()}`

let all: readonly Command[] = []
beforeAll(async () => {
  const program = await createProgram(
    processIo(),
    commands.map((c) => c.name),
  )
  all = descendants(program)
})
const at = (path: string): Command => {
  const found = all.find((command) => pathOf(command) === path)
  if (found === undefined) throw new Error(`there is no command ${path}`)
  return found
}

test.each(settings)('$name has one name in every command', ({ not, upstream = {} }) => {
  expect(all.length).toBeGreaterThan(40)
  for (const command of all)
    for (const { long, hidden } of command.options) {
      const path = pathOf(command)
      const isUpstreams = long === upstream[path.split(' ')[0] ?? '']
      if (long === undefined || hidden || isUpstreams) continue
      expect(not, `keelson ${path} ${long}`).not.toContain(long)
    }
})

test('a short name has one meaning, except where kubectl or docker give it another', () => {
  const meanings = new Map<string, Set<string>>()
  for (const { short, long, hidden } of all.flatMap((command) => command.options))
    if (short !== undefined && long !== undefined && !hidden)
      meanings.set(short, (meanings.get(short) ?? new Set()).add(long))
  const several = [...meanings]
    .filter(([, names]) => names.size > 1)
    .map(([short, names]) => [short, [...names]])
  expect(Object.fromEntries(several)).toEqual({
    '-f': ['--follow', '--force', '--filename'],
    '-c': ['--container', '--containerd'],
    '-d': ['--detach', '--disk'],
    '-t': ['--tty', '--timeout'],
  })
})

describe('old names', () => {
  test('the list above is complete', () => {
    const found = all.flatMap((command) =>
      command.options.flatMap((option) =>
        option instanceof OptionAlias
          ? [[pathOf(command), option.long ?? option.short, option.target.long].join(' ')]
          : [],
      ),
    )
    expect(found.toSorted()).toEqual(oldNames.map((row) => row.join(' ')).toSorted())
  })

  test.each(oldNames)('keelson %s %s sets %s', (path, old, name) => {
    const command = at(path)
    const target = command.options.find((option) => option.long === name)
    const value = target?.argChoices?.at(-1) ?? 'unix:///run/x.sock'
    for (const argv of [old.startsWith('--') ? [`${old}=${value}`] : [old, value], [name, value]]) {
      const copy = command.createCommand('copy').exitOverride()
      for (const option of command.options) copy.addOption(option)
      copy.parse(argv, { from: 'user' })
      expect(copy.getOptionValue(target?.attributeName() ?? '')).toBe(value)
    }
    expect(command.helpInformation()).not.toMatch(new RegExp(`${old}[ ,]`))
    expect(command.helpInformation()).toContain(name)
  })

  test('an old name refuses what the new one refuses', () => {
    const command = at('companion').createCommand('copy').exitOverride()
    command.configureOutput({ writeErr: () => undefined })
    for (const option of at('companion').options) command.addOption(option)
    expect(() => command.parse(['--logging-format', 'xml'], { from: 'user' })).toThrow(/text, json/)
  })
})

test('the kubelet keeps the names of upstream and takes ours, too', () => {
  for (const [ours, upstream] of Object.entries(flagAliases)) {
    expect(Object.keys(flagTable)).toContain(upstream)
    expect(settings.map((s) => s.name)).toContain(`--${ours}`)
    for (const argv of [[`--${ours}=x`], [`--${ours}`, 'x'], [`--${upstream}=x`]])
      expect(splitFlags(argv).words).toEqual([{ name: upstream, value: 'x' }])
  }
})
