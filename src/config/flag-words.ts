// A command line to (flag, value) pairs, by the rules of the kubelet's flag library: `--name=value`, `--name value`,
// booleans without a value, `-v 2`, `_` for `-`, and `--` at the end. Needs only which flags take a value.

import { type FlagKind, type FlagRow, flagTable, otherFlags } from './flag-table.js'

export interface FlagWord {
  readonly name: string
  /** Undefined: written without a value, so true for a boolean. */
  readonly value: string | undefined
}

interface FlagWords {
  readonly words: readonly FlagWord[]
  readonly positional: readonly string[]
  /** Flags at the end that need a value. */
  readonly incomplete: readonly string[]
}

const rows: Readonly<Record<string, FlagRow>> = flagTable

export const flagRow = (name: string): FlagRow | undefined =>
  Object.hasOwn(rows, name) ? rows[name] : undefined

/** Names that Keelson's other commands use for the same settings. */
export const flagAliases: Readonly<Record<string, string>> = {
  'runtime-endpoint': 'container-runtime-endpoint',
  'log-format': 'logging-format',
}

const isBoolean = (name: string): boolean => {
  const kind: FlagKind | undefined = flagRow(name)?.kind ?? otherFlags.get(name)?.kind
  return kind === 'bool' || name === 'help' || name === 'version'
}

const isKnown = (name: string): boolean => flagRow(name) !== undefined || otherFlags.has(name)

export function splitFlags(argv: readonly string[]): FlagWords {
  const words: FlagWord[] = []
  const positional: string[] = []
  const incomplete: string[] = []
  for (let i = 0; i < argv.length; i++) {
    const arg = argv[i] ?? ''
    if (arg === '--') {
      positional.push(...argv.slice(i + 1))
      break
    }
    const body = longForm(arg)
    if (body === undefined) {
      positional.push(arg)
      continue
    }
    const equals = body.indexOf('=')
    const written = (equals < 0 ? body : body.slice(0, equals)).replaceAll('_', '-')
    const name = Object.hasOwn(flagAliases, written) ? (flagAliases[written] ?? written) : written
    if (equals >= 0) words.push({ name, value: body.slice(equals + 1) })
    else if (isBoolean(name)) words.push({ name, value: undefined })
    // The word after an unknown flag is taken for its value, so that one mistake gives one message.
    else if (!isKnown(name) && (argv[i + 1] ?? '-').startsWith('-')) words.push({ name, value: undefined })
    else if (i + 1 < argv.length) words.push({ name, value: argv[++i] ?? '' })
    else incomplete.push(name)
  }
  return { words, positional, incomplete }
}

/** `-v2`, `-v=2` and `-h` are the only short forms; undefined: not a flag. */
function longForm(arg: string): string | undefined {
  if (arg.startsWith('--')) return arg.slice(2)
  if (arg === '-h') return 'help'
  const verbosity = /^-v(?:=?(.+))?$/.exec(arg)
  if (verbosity !== null) return verbosity[1] === undefined ? 'v' : `v=${verbosity[1]}`
  return arg.startsWith('-') && arg.length > 1 ? arg.slice(1) : undefined
}

const processFlags = [
  'config',
  'config-dir',
  'keelson-config',
  'kubeconfig',
  'bootstrap-kubeconfig',
  'cert-dir',
  'cloud-provider',
  'node-labels',
  'node-ip',
  'hostname-override',
  'image-credential-provider-config',
  'image-credential-provider-bin-dir',
  'root-dir',
  'runtime-cgroups',
  'kubernetes-version',
  'profile',
  'strict',
] as const
type ProcessFlag = (typeof processFlags)[number]
export type ProcessFlags = { readonly [F in ProcessFlag]?: string }

/** What is needed to find the files, before the release is known that decides about all other flags. */
export function readProcessFlags(argv: readonly string[]): ProcessFlags {
  const found: { [F in ProcessFlag]?: string } = {}
  for (const { name, value } of splitFlags(argv).words) {
    const flag = processFlags.find((f) => f === name)
    if (flag !== undefined) found[flag] = value ?? 'true'
  }
  return found
}

const truths: Readonly<Record<string, boolean>> = {
  ...Object.fromEntries(['1', 't', 'T', 'TRUE', 'true', 'True'].map((word) => [word, true])),
  ...Object.fromEntries(['0', 'f', 'F', 'FALSE', 'false', 'False'].map((word) => [word, false])),
}

/** The words that Go takes for a boolean. */
export const parseBool = (text: string): boolean | undefined =>
  Object.hasOwn(truths, text) ? truths[text] : undefined
