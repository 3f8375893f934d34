// Connects to the runtime by calling Version of CRI v1. Any answer other than success ends the start; only a socket
// that is not there yet is waited for, because runtime and kubelet may start together.
import { asKeelsonError, isKeelsonError, keelsonError } from '../core/errors.js'
import type { VersionResponse } from '../cri-api/api.js'
import type { Log } from '../ports/log.js'
import type { CriClient } from '../ports/runtime.js'

/** The service manager starts us again after that. */
const longestWaitMs = 30_000

interface ConnectOptions {
  readonly client: CriClient
  readonly log: Log
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

export async function connectRuntime({
  client,
  log,
  timeoutMs,
  signal,
}: ConnectOptions): Promise<VersionResponse> {
  const ask = (ms: number, waitForReady: boolean): Promise<VersionResponse> =>
    client.runtime.version({ version: 'v1' }, { timeoutMs: ms, signal, waitForReady })
  try {
    try {
      return await ask(timeoutMs, false)
    } catch (e) {
      if (!isUnreachable(e, client)) throw e
      const waitMs = Math.min(timeoutMs, longestWaitMs)
      log.info('waiting for the container runtime', { socket: client.socketPath, upToMs: waitMs })
      return await ask(waitMs, true)
    }
  } catch (e) {
    signal.throwIfAborted()
    const error = asKeelsonError(e)
    throw keelsonError(error.code, `connect to the container runtime: ${error.message}`, error.details, e)
  }
}

/** No connection could be made, as against a runtime that answers UNAVAILABLE. */
const isUnreachable = (e: unknown, client: CriClient): boolean =>
  isKeelsonError(e) && e.code === 'runtime.unavailable' && client.state === 'backoff'

/** A socket of its own for images is checked too: pods would fail on it one by one. */
export async function connectImages({
  client,
  timeoutMs,
  signal,
}: Omit<ConnectOptions, 'log'>): Promise<void> {
  try {
    await client.image.imageFsInfo({}, { timeoutMs, signal })
  } catch (e) {
    signal.throwIfAborted()
    const error = asKeelsonError(e)
    throw keelsonError(error.code, `connect to the image service: ${error.message}`, error.details, e)
  }
}
