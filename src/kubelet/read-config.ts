// Reads the files that the command line names and runs the configuration road over their bytes. Missing files that
// were named are an error; our own file at its usual place may be missing.

import { isDropIn } from '../config/drop-ins.js'
import { readProcessFlags } from '../config/flag-words.js'
import { defaultKeelsonConfigPath } from '../config/keelson-schema.js'
import { type ConfigInput, type LoadedConfig, loadConfig, requireConfig } from '../config/load.js'
import { formatOrigin } from '../config/origin.js'
import { maxConfigBytes, type NamedBytes } from '../config/read-text.js'
import type { EndpointChoice } from '../core/driver/proof.js'
import { keelsonError } from '../core/errors.js'
import type { ReleaseRules } from '../core/release/rules.js'
import type { Files } from '../ports/files.js'

/** A drop-in directory holds a handful. */
const maxDropIns = 1000

export interface KubeletConfigFiles {
  readonly loaded: LoadedConfig
  readonly endpoint: EndpointChoice
}

export async function readKubeletConfig(
  flags: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  files: Pick<Files, 'read' | 'list'>,
): Promise<KubeletConfigFiles> {
  const named = readProcessFlags(flags)
  const input: ConfigInput = {
    kubelet: named.config === undefined ? undefined : await readNamed(files, named.config, '--config'),
    dropIns: named['config-dir'] === undefined ? undefined : await readDropIns(files, named['config-dir']),
    keelson: await readKeelsonFile(files, named['keelson-config']),
    env,
  }
  const loaded = loadConfig({ ...input, flags })
  return { loaded, endpoint: endpointChoice(loaded, input) }
}

/** Release and profile alone, for what is asked before anything starts. */
export async function readRelease(
  flags: readonly string[],
  files: Pick<Files, 'read'>,
): Promise<ReleaseRules> {
  const named = readProcessFlags(flags)
  const keelson = await readKeelsonFile(files, named['keelson-config'])
  const overrides = { kubernetesVersion: named['kubernetes-version'], profile: named.profile }
  return requireConfig({ keelson, overrides }).config
}

const readKeelsonFile = (
  files: Pick<Files, 'read'>,
  path: string | undefined,
): Promise<NamedBytes | undefined> =>
  path === undefined
    ? readOptional(files, defaultKeelsonConfigPath)
    : readNamed(files, path, '--keelson-config')

async function readOptional(files: Pick<Files, 'read'>, path: string): Promise<NamedBytes | undefined> {
  const bytes = await files.read(path, maxConfigBytes)
  return bytes === undefined ? undefined : { path, bytes }
}

async function readNamed(files: Pick<Files, 'read'>, path: string, flag: string): Promise<NamedBytes> {
  const found = await readOptional(files, path)
  if (found !== undefined) return found
  throw keelsonError('input.unreadable', `read ${path}: no such file; check ${flag}`, { path, flag })
}

async function readDropIns(files: Pick<Files, 'read' | 'list'>, directory: string): Promise<NamedBytes[]> {
  const entries = await files.list(directory, { recursive: true, maxEntries: maxDropIns })
  if (entries === undefined)
    throw keelsonError('input.unreadable', `read ${directory}: no such directory; check --config-dir`, {
      directory,
    })
  const found: NamedBytes[] = []
  for (const { path } of entries.filter((e) => isDropIn(e.path)))
    found.push(await readNamed(files, path, '--config-dir'))
  return found
}

/** What the files alone would have said, where the flag is what counts. */
function endpointChoice({ config, origins }: LoadedConfig, input: ConfigInput): EndpointChoice {
  const used = config.kubelet.containerRuntimeEndpoint
  if (origins.containerRuntimeEndpoint?.from !== 'flag') return { used, beaten: undefined }
  const { 'kubernetes-version': kubernetesVersion, profile } = config.process
  const files = loadConfig({ ...input, overrides: { kubernetesVersion, profile } })
  const value = files.config.kubelet.containerRuntimeEndpoint
  const origin = files.origins.containerRuntimeEndpoint
  if (origin === undefined || origin.from === 'default' || value === used) return { used, beaten: undefined }
  return { used, beaten: { value, place: formatOrigin(origin) } }
}
