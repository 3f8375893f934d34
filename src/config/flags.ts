// The kubelet's command line to settings: which field each flag sets, in which release it is known, and what is
// wrong with it. Values keep their written form; the schema reads them like those of a file.

import { formatVersion, type KubernetesVersion } from '../core/release/version.js'
import { didYouMean } from '../core/units/nearest-name.js'
import { type FlagRow, flagTable, otherFlags } from './flag-table.js'
import {
  type FlagWord,
  flagRow,
  type ProcessFlags,
  parseBool,
  readProcessFlags,
  splitFlags,
} from './flag-words.js'
import { type Json, jsonObject } from './node.js'
import {
  defaultOrigin,
  type FieldPath,
  type Findings,
  noFindings,
  type Origin,
  type WarningId,
} from './origin.js'

export interface FlagSetting {
  readonly field: FieldPath
  readonly value: Json
  readonly origin: Origin
}

interface ParsedFlags extends Findings {
  readonly settings: readonly FlagSetting[]
  readonly process: ProcessFlags
  readonly asks: 'help' | 'version' | undefined
}

export interface FlagRules {
  readonly version: KubernetesVersion
  /** KEP-4033 took --cgroup-driver away in this release. */
  readonly cgroupDriverRemoved?: boolean
  readonly removedFlagPolicy?: 'ignore' | 'reject'
}

/** No name: a word that is no flag at all. */
const origin = (name: string): Origin => (name === '' ? defaultOrigin : { from: 'flag', flag: `--${name}` })

export function parseKubeletFlags(argv: readonly string[], rules: FlagRules): ParsedFlags {
  const findings = noFindings()
  const settings = new Map<string, FlagSetting>()
  const { words, positional, incomplete } = splitFlags(argv)
  for (const name of incomplete) refuse(findings, name, `--${name} needs a value`, `use --${name}=VALUE`)
  for (const arg of positional) {
    refuse(
      findings,
      '',
      `unexpected argument ${JSON.stringify(arg.slice(0, 80))}`,
      'flags begin with --; remove it',
    )
  }
  let asks: ParsedFlags['asks']
  for (const word of words) {
    if (word.name === 'help' || word.name === 'version') asks ??= word.name
    else parseWord(word, rules, settings, findings)
  }
  return { ...findings, settings: [...settings.values()], process: readProcessFlags(argv), asks }
}

function parseWord(
  word: FlagWord,
  rules: FlagRules,
  settings: Map<string, FlagSetting>,
  findings: Findings,
): void {
  const { name } = word
  const row = flagRow(name)
  const { minor } = rules.version
  if (row === undefined || (row.since ?? 0) > minor || isRejected(name, rules)) {
    otherFlag(word, rules, findings)
    return
  }
  const parsed = parseValue(row, word)
  if (!parsed.ok) {
    const given = JSON.stringify((word.value ?? '').slice(0, 80))
    refuse(findings, name, `invalid argument ${given} for --${name}: ${parsed.message}`, parsed.remedy)
    return
  }
  if (row.field === undefined) return
  warnDeprecated(name, row, rules, findings)
  const before = settings.get(name)?.value
  settings.set(name, {
    field: row.field.split('.'),
    value: before === undefined ? parsed.value : combine(before, parsed.value),
    origin: origin(name),
  })
}

const isRejected = (name: string, rules: FlagRules): boolean =>
  name === 'cgroup-driver' && rules.cgroupDriverRemoved === true && rules.removedFlagPolicy === 'reject'

function otherFlag({ name, value }: FlagWord, rules: FlagRules, findings: Findings): void {
  const other = otherFlags.get(name)
  const { minor } = rules.version
  if (other !== undefined && other.since <= minor && minor <= other.until) {
    const { effect } = other
    if (effect.kind === 'harmless')
      warn(findings, 'without-effect', name, `--${name} has no effect: ${effect.why}`, '')
    else if (value !== '')
      warn(findings, 'not-honoured', name, `--${name} is not supported: ${effect.what}`, effect.remedy)
    return
  }
  const since = flagRow(name)?.since ?? other?.since
  const asked = formatVersion(rules.version)
  const known = [...Object.keys(flagTable), ...otherFlags.keys()]
  const why =
    since !== undefined && since > minor
      ? `: it was added in Kubernetes 1.${since}, and this is ${asked}`
      : other !== undefined
        ? `: Kubernetes 1.${other.until + 1} removed it`
        : isRejected(name, rules)
          ? `: Kubernetes ${asked} removed it; the runtime reports the driver`
          : didYouMean(name, known)
  refuse(findings, name, `unknown flag: --${name}${why}`, 'remove it or fix its name')
}

function warnDeprecated(name: string, row: FlagRow, rules: FlagRules, findings: Findings): void {
  if (name === 'cgroup-driver' && rules.cgroupDriverRemoved === true) {
    const message = `--cgroup-driver has no effect in Kubernetes ${formatVersion(rules.version)}: the runtime reports the driver`
    warn(findings, 'flag-ignored-after-removal', name, message, 'remove the flag')
  } else if (row.kept !== true && row.field !== undefined) {
    const message = `flag --${name} is deprecated`
    warn(findings, 'flag-deprecated', name, message, `set ${row.field} in the file of --config`)
  }
}

type ParsedValue =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly message: string; readonly remedy: string }

const good = (value: Json): ParsedValue => ({ ok: true, value })
const bad = (message: string, remedy: string): ParsedValue => ({ ok: false, message, remedy })

function parseValue(row: FlagRow, { name, value: given }: FlagWord): ParsedValue {
  const value = given ?? ''
  switch (row.kind) {
    case 'bool': {
      const on = given === undefined ? true : parseBool(value)
      return on === undefined ? bad('not a boolean', `use --${name}=true or --${name}=false`) : good(on)
    }
    case 'text':
      return good(value)
    case 'int':
      return /^[+-]?\d{1,15}$/.test(value)
        ? good(Number(value))
        : bad('not a whole number', `use --${name}=NUMBER`)
    case 'list':
      return good(value === '' ? [] : value.split(',').map((part) => part.trim()))
    case 'map':
      return parsePairs(value, '=', (text) => text)
    case 'thresholds':
      return parsePairs(value, '<', (text) => text)
    case 'gates':
      return parsePairs(value, '=', parseBool)
  }
}

function parsePairs(
  value: string,
  separator: string,
  parse: (text: string) => Json | undefined,
): ParsedValue {
  const entries: [string, Json][] = []
  for (const part of value.split(',')) {
    if (part.trim() === '') continue
    const at = part.indexOf(separator)
    const key = part.slice(0, at).trim()
    const parsed = at < 0 ? undefined : parse(part.slice(at + separator.length).trim())
    if (key === '' || parsed === undefined) {
      const example = separator === '<' ? 'memory.available<100Mi' : `name${separator}value`
      return bad(`malformed pair ${JSON.stringify(part.slice(0, 80))}`, `use ${example}, separated by commas`)
    }
    entries.push([key, parsed])
  }
  return good(jsonObject(entries))
}

/** A flag given twice: lists and maps add up, anything else is replaced. */
function combine(before: Json, after: Json): Json {
  if (Array.isArray(before) && Array.isArray(after)) return [...before, ...after]
  if (isPlain(before) && isPlain(after))
    return jsonObject([...Object.entries(before), ...Object.entries(after)])
  return after
}

const isPlain = (v: Json): v is { readonly [key: string]: Json } =>
  v !== null && typeof v === 'object' && !Array.isArray(v)

const refuse = (findings: Findings, name: string, message: string, remedy: string): void => {
  findings.problems.push({ code: 'usage.invalid', path: '', message, remedy, origin: origin(name) })
}

const warn = (findings: Findings, id: WarningId, name: string, message: string, remedy: string): void => {
  findings.warnings.push({ id, path: '', message, remedy, origin: origin(name) })
}
