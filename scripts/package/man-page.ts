// Manual pages out of the definitions of the commands: keelson(1), keelson-cri(1), keelson-cri-install(1) and so on. Pure.
import type { EventEmitter } from 'node:events'
import type { Argument, Command, Help, Option } from 'commander'
import { helpLayout } from '../../src/cli/help-layout.js'

export interface ManPage {
  /** `keelson-cri-install` */
  readonly name: string
  readonly text: string
}

export interface ManPageInput {
  readonly version: string
  readonly date: Date
  /** Where a command prints its own help instead of having commander's: that text, by the command's name. */
  readonly ownHelp: Readonly<Record<string, string>>
}

/** `–` -> `\[u2013]`: what groff reads whatever the locale is. */
const glyph = (character: string): string =>
  `\\[u${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`

/** In running text; a line must not begin with a request. */
const roff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/[^\p{ASCII}]/gu, glyph)
    .replaceAll(/^([.'])/gm, '\\&$1')

const bold = (text: string): string => `\\fB${roff(text)}\\fR`

/** What is indented is shown as it is written; the rest is filled. */
function paragraphs(text: string): string[] {
  return text
    .trim()
    .split(/\n{2,}/)
    .flatMap((part) => (/^\s/m.test(part) ? ['.PP', '.nf', roff(part), '.fi'] : ['.PP', roff(part)]))
}

const plain = (help: Help, option: Option): string[] => [
  '.TP',
  bold(help.optionTerm(option)),
  roff(help.optionDescription(option)).replaceAll('\n', ' '),
]

const argument = (help: Help, item: Argument): string[] => [
  '.TP',
  bold(help.argumentTerm(item)),
  roff(help.argumentDescription(item)),
]

/** Commander keeps what follows the help as listeners. */
function textAfterHelp(command: Command): string {
  let text = ''
  const context = { error: false, command, write: (part: string) => (text += part) }
  const emitter = command as unknown as EventEmitter
  emitter.emit('afterHelp', context)
  return text
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [`.SH ${title}`, ...lines]

function formatPage(command: Command, path: readonly string[], input: ManPageInput): string {
  const help = command.createHelp()
  const name = path.join('-')
  const own = input.ownHelp[name]
  const summary = (command.summary() || command.description()).split('\n')[0] ?? ''
  const children = help.visibleCommands(command).filter((c) => c.name() !== 'help')
  const usage = own === undefined ? `${path.join(' ')} ${command.usage()}` : `${path.join(' ')} [flags]`
  const above = path.slice(0, -1).join('-')
  const related = [...(above === '' ? [] : [above]), ...children.map((c) => `${name}-${c.name()}`)]
  return [
    `.TH "${name.toUpperCase()}" 1 "${input.date.toISOString().slice(0, 10)}" "keelson ${input.version}" "Keelson"`,
    '.SH NAME',
    `${roff(name)} \\- ${roff(summary)}`,
    '.SH SYNOPSIS',
    bold(usage.trim()),
    ...section('DESCRIPTION', paragraphs(own ?? command.description())),
    ...section(
      'ARGUMENTS',
      own === undefined ? help.visibleArguments(command).flatMap((a) => argument(help, a)) : [],
    ),
    ...section(
      'OPTIONS',
      own === undefined ? help.visibleOptions(command).flatMap((o) => plain(help, o)) : [],
    ),
    ...section(
      'COMMANDS',
      children.flatMap((c) => ['.TP', bold(c.name()), roff(help.subcommandDescription(c))]),
    ),
    ...section('NOTES', paragraphs(textAfterHelp(command))),
    ...section('SEE ALSO', related.length === 0 ? [] : [related.map((r) => `${bold(r)}(1)`).join(', ')]),
    '',
  ].join('\n')
}

export function manPages(program: Command, input: ManPageInput, above: readonly string[] = []): ManPage[] {
  program.configureHelp({ ...helpLayout })
  const path = [...above, program.name()]
  const children = program.commands.filter((c) => c.name() !== 'help')
  return [
    { name: path.join('-'), text: formatPage(program, path, input) },
    ...children.flatMap((c) => manPages(c, input, path)),
  ]
}
