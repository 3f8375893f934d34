// What can follow which words, read from the real command tree.
import type { Argument, Command, Option } from 'commander'
import { flagTable } from '../../config/flag-table.js'
import { suggestionsFor } from './suggest.js'

/** What can be typed in one place: names of files, some of these words, or nothing that is known. */
export type Values = 'files' | 'unknown' | readonly string[]

export interface Flag {
  readonly names: readonly string[]
  /** Undefined: it takes no value. */
  readonly values: Values | undefined
}

export interface Place {
  /** The words of the command, without the program's name. */
  readonly path: readonly string[]
  readonly subcommands: readonly string[]
  readonly flags: readonly Flag[]
  /** Of its arguments. */
  readonly values: Values
}

const fileWord = /^(file|path|dir|directory|archive)\b/

const valuesOf = (of: Argument | Option, placeholder: string): Values =>
  suggestionsFor(of) ?? (fileWord.test(placeholder) ? 'files' : 'unknown')

function flagOf(option: Option): Flag {
  const names = [option.short, option.long].filter((name) => name !== undefined)
  const placeholder = /[<[]([^>\]]*)[>\]]/.exec(option.flags)?.[1]
  return { names, values: placeholder === undefined ? undefined : valuesOf(option, placeholder) }
}

function argumentValues(command: Command): Values {
  const all = command.registeredArguments.map((argument) =>
    // A command of a container or a machine: its arguments are often files.
    argument.name() === 'command' ? 'files' : valuesOf(argument, argument.name()),
  )
  const words = all.flatMap((values) => (typeof values === 'string' ? [] : values))
  return words.length > 0 ? words : (all.find((values) => values === 'files') ?? 'unknown')
}

/** The kubelet reads its command line itself. */
const kubeletFlags: readonly Flag[] = Object.keys(flagTable).map((name) => ({
  names: [`--${name}`],
  values: /(^|-)(file|dir|directory|path|config|kubeconfig)$/.test(name) ? 'files' : 'unknown',
}))

export function placesOf(command: Command, path: readonly string[] = []): Place[] {
  const subcommands = command.commands.filter((c) => c.name() !== 'help')
  const own = command.options.filter((o) => !o.hidden).map(flagOf)
  const flags = path.join(' ') === 'kubelet' ? kubeletFlags : own
  const here: Place = {
    path,
    subcommands: subcommands.map((c) => c.name()),
    flags: [...flags, { names: ['--help'], values: undefined }],
    values: argumentValues(command),
  }
  return [here, ...subcommands.flatMap((c) => placesOf(c, [...path, c.name()]))]
}
