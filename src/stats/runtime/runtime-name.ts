// Which runtime is behind us, asked once for each connection.
import type { Log } from '../../ports/log.js'
import type { CriClient } from '../../ports/runtime.js'
import type { RuntimeName } from '../repair/defects.js'

/** Undefined: it could not be asked, so nothing is known to be wrong with it. */
export type FindRuntimeName = (signal: AbortSignal) => Promise<RuntimeName | undefined>

const timeoutMs = 5_000

export function createRuntimeNameFinder(client: CriClient, log: Log): FindRuntimeName {
  let known: RuntimeName | undefined
  client.onState((state) => {
    if (state !== 'ready') known = undefined
  })
  return async (signal) => {
    if (known !== undefined) return known
    try {
      const options = { timeoutMs, signal }
      const { runtimeName, runtimeVersion } = await client.runtime.version({}, options)
      const isBehindServer = await client.runtime.status({ verbose: true }, options).then(
        ({ info }) => info['keelson'] !== undefined,
        () => false,
      )
      known = { name: runtimeName.toLowerCase(), version: runtimeVersion, isBehindServer }
    } catch (error) {
      log.debug('failed to ask the runtime for its version', { error })
    }
    return known
  }
}
