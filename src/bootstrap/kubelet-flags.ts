// kubeadm-flags.env: one variable that holds the kubelet's extra command line. A flag there overrides config.yaml.
import { keelsonError } from '../core/errors.js'
import { kubeletFlagsPath } from './paths.js'

export const flagsVariable = 'KUBELET_KUBEADM_ARGS'
export const endpointFlag = 'container-runtime-endpoint'

export interface KubeletFlag {
  /** Without the dashes. */
  readonly name: string
  /** Undefined: a flag without a value. */
  readonly value: string | undefined
}

interface KubeletFlags {
  readonly flags: readonly KubeletFlag[]
  /** Words that are no flag; they do not survive a rewrite. */
  readonly dropped: readonly string[]
}

const assignment = new RegExp(`^\\s*${flagsVariable}=(.*)$`)

/** Undefined: the text does not set the variable. The last assignment counts, as it does for systemd. */
export function parseKubeletFlags(text: string): KubeletFlags | undefined {
  const value = text
    .split('\n')
    .map((line) => assignment.exec(line.replace(/\r$/, ''))?.[1])
    .findLast((v) => v !== undefined)
  if (value === undefined) return undefined
  const words = value
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2')
    .split(/\s+/)
    .filter((w) => w !== '')
  const flags: KubeletFlag[] = []
  const dropped: string[] = []
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? ''
    if (!word.startsWith('--')) {
      dropped.push(word)
      continue
    }
    const at = word.indexOf('=')
    const next = words[i + 1]
    if (at >= 0) flags.push({ name: word.slice(2, at), value: word.slice(at + 1) })
    else if (next !== undefined && !next.startsWith('--')) {
      flags.push({ name: word.slice(2), value: next })
      i++
    } else flags.push({ name: word.slice(2), value: undefined })
  }
  return { flags, dropped }
}

/** The same, when the file is needed and has to be sound. */
export function requireKubeletFlags(text: string | undefined): KubeletFlags {
  if (text === undefined)
    throw keelsonError(
      'node.file-missing',
      `read ${kubeletFlagsPath}: no such file; the kubelet's flags are needed to find its CRI socket`,
      { path: kubeletFlagsPath },
    )
  const parsed = parseKubeletFlags(text)
  if (parsed === undefined)
    throw keelsonError('node.file-invalid', `read ${kubeletFlagsPath}: it does not set ${flagsVariable}`, {
      path: kubeletFlagsPath,
    })
  return parsed
}

const formatFlag = ({ name, value }: KubeletFlag): string =>
  value === undefined ? `--${name}` : `--${name}=${value}`

const byName = (a: KubeletFlag, b: KubeletFlag): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)

/** [v=2, a=b] -> `KUBELET_KUBEADM_ARGS="--a=b --v=2"` and a newline. */
export const formatKubeletFlags = (flags: readonly KubeletFlag[]): string =>
  `${flagsVariable}="${[...flags].sort(byName).map(formatFlag).join(' ')}"\n`

/** Puts the list in place of the last assignment and keeps every other line of the file. */
export function rewriteKubeletFlags(text: string, flags: readonly KubeletFlag[]): string {
  const lines = text.split('\n')
  const at = lines.findLastIndex((l) => assignment.test(l.replace(/\r$/, '')))
  const line = formatKubeletFlags(flags).trimEnd()
  if (at < 0) return formatKubeletFlags(flags)
  const all = lines.with(at, line).join('\n')
  return all.endsWith('\n') ? all : `${all}\n`
}

/** The value that the kubelet would take: the last one. An empty value counts as none. */
export function endpointOfFlags(flags: KubeletFlags | undefined): string | undefined {
  const value = flags?.flags.findLast((f) => f.name === endpointFlag)?.value
  return value === '' ? undefined : value
}

export const withoutEndpoint = (flags: readonly KubeletFlag[]): KubeletFlag[] =>
  flags.filter((f) => f.name !== endpointFlag)
