// Reads the configuration files that a command line names. The road from bytes to settings is src/config.
import { listFiles } from '../adapters/files/list.js'
import { type ConfigInput, type LoadedConfig, requireConfig } from '../config/load.js'
import { maxConfigBytes, type NamedBytes } from '../config/read-text.js'
import { keelsonError } from '../core/errors.js'
import { readInput } from './input.js'
import type { Io } from './io.js'

interface ConfigOptions {
  readonly config?: string | undefined
  readonly configDir?: string | undefined
  readonly keelsonConfig?: string | undefined
  readonly kubernetesVersion?: string | undefined
  readonly profile?: string | undefined
  readonly strict?: boolean | undefined
}

export async function readConfig(
  options: ConfigOptions,
  flags: readonly string[],
  io: Io,
): Promise<LoadedConfig> {
  const file = async (path: string | undefined): Promise<NamedBytes | undefined> =>
    path === undefined ? undefined : readInput(path, maxConfigBytes, io)
  const { kubernetesVersion, profile } = options
  const input: ConfigInput = {
    kubelet: await file(options.config),
    dropIns: await readDropIns(options.configDir, io),
    keelson: await file(options.keelsonConfig),
    flags,
    overrides: { kubernetesVersion, profile },
    strict: options.strict === true,
    env: io.env,
  }
  return requireConfig(input)
}

/** Every file of the tree: which of them count is decided by the pure code. */
async function readDropIns(
  directory: string | undefined,
  io: Io,
): Promise<readonly NamedBytes[] | undefined> {
  if (directory === undefined) return undefined
  const entries = await listFiles(directory, { recursive: true, suffix: '.conf' })
  if (entries === undefined)
    throw keelsonError('input.unreadable', `read ${directory}: no such directory; check --config-dir`, {
      path: directory,
    })
  return Promise.all(entries.map((e) => readInput(e.path, maxConfigBytes, io)))
}
