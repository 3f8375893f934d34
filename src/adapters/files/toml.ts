// TOML text to plain values, for the configuration files of runtimes.
import { parse } from 'smol-toml'
import { keelsonError } from '../../core/errors.js'

/** Error: runtime.config-file, naming line and column. */
export function parseToml(text: string): unknown {
  try {
    return parse(text, { integersAsBigInt: 'asNeeded' })
  } catch (e) {
    throw keelsonError(
      'runtime.config-file',
      `read TOML: ${e instanceof Error ? (e.message.split('\n')[0] ?? '') : String(e)}`,
    )
  }
}
