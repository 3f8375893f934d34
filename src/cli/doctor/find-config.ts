// The configuration that the doctor judges: that of the running kubelet, of the files that one here would read, or of
// the files that the command line names.
import { isAbsolute, resolve } from 'node:path'
import { createFiles } from '../../adapters/files/files.js'
import { parseKubeletFlags } from '../../bootstrap/kubelet-flags.js'
import { kubeletConfigPath, kubeletFlagsPath } from '../../bootstrap/paths.js'
import { loadConfig } from '../../config/load.js'
import { maxConfigBytes } from '../../config/read-text.js'
import { asKeelsonError, isKeelsonError } from '../../core/errors.js'
import { newestMinor, oldestMinor } from '../../core/release/version.js'
import type { FoundConfig } from '../../doctor/doctor-ports.js'
import { readKubeletConfig } from '../../kubelet/read-config.js'
import type { KubeletProcess } from '../../ports/diagnosis.js'
import type { Files } from '../../ports/files.js'

export interface ConfigChoice {
  /** Flags in the kubelet's spelling that the user gave to the doctor: `--config=FILE`. */
  readonly named: readonly string[]
  /** `--kubernetes-version`, `--profile`. */
  readonly rules: readonly string[]
  /** Version of the installed upstream kubelet, which is the release whose rules apply to it. */
  readonly kubeletVersion: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
}

export async function findConfig(
  process: KubeletProcess | undefined,
  choice: ConfigChoice,
): Promise<FoundConfig> {
  const files = createFiles()
  const rules = process?.kind === 'keelson' ? choice.rules : withVersion(choice)
  if (choice.named.length > 0) return read(choice.named, rules, 'the named files', files, choice.env)
  if (process !== undefined)
    return read(process.args, rules, `process ${process.pid}`, below(files, process.cwd), choice.env)
  const standard = await files.read(kubeletConfigPath, maxConfigBytes).catch(() => undefined)
  if (standard === undefined)
    return { loaded: loadConfig({ flags: rules }), source: undefined, unreadable: undefined }
  const text = await files.read(kubeletFlagsPath, maxConfigBytes).catch(() => undefined)
  const flags = parseKubeletFlags(new TextDecoder().decode(text))?.flags ?? []
  const words = flags.map(({ name, value }) => (value === undefined ? `--${name}` : `--${name}=${value}`))
  return read([`--config=${kubeletConfigPath}`, ...words], rules, kubeletConfigPath, files, choice.env)
}

async function read(
  flags: readonly string[],
  rules: readonly string[],
  source: string,
  files: Pick<Files, 'read' | 'list'>,
  env: ConfigChoice['env'],
): Promise<FoundConfig> {
  try {
    const { loaded } = await readKubeletConfig([...flags, ...rules], env, files)
    return { loaded, source, unreadable: undefined }
  } catch (e) {
    if (!isKeelsonError(e)) throw e
    return { loaded: loadConfig({ flags: rules }), source, unreadable: asKeelsonError(e).message }
  }
}

/** The user's word first, then the installed kubelet's, if it is a release that the tables know. */
function withVersion({ rules, kubeletVersion }: ConfigChoice): readonly string[] {
  const minor = Number(/^v?1\.(\d+)/.exec(kubeletVersion ?? '')?.[1] ?? Number.NaN)
  const isGiven = rules.some((r) => r.startsWith('--kubernetes-version='))
  return isGiven || !(minor >= oldestMinor && minor <= newestMinor)
    ? rules
    : [...rules, `--kubernetes-version=1.${minor}`]
}

const below = (files: Files, directory: string): Pick<Files, 'read' | 'list'> => {
  const at = (path: string): string => (isAbsolute(path) ? path : resolve(directory, path))
  return {
    read: (path, maxBytes) => files.read(at(path), maxBytes),
    list: (path, options) => files.list(at(path), options),
  }
}
