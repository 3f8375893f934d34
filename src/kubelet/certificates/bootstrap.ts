// The first client certificate of a node: asked for with the credentials of --bootstrap-kubeconfig, kept in files, and named
// by --kubeconfig from then on. Every step can be the last one before a power cut: the next start goes on from the files.
import { asKeelsonError, isKeelsonError } from '../../core/errors.js'
import type { Certificates, PairStore } from '../../ports/certificates.js'
import type { Clock } from '../../ports/clock.js'
import type { KubeApi } from '../../ports/kube-api.js'
import type { Log } from '../../ports/log.js'
import { nodeSubject, noNames } from './decide/request.js'
import { requestCertificate } from './request-certificate.js'

interface BootstrapOptions {
  readonly api: KubeApi
  readonly certificates: Certificates
  readonly store: PairStore
  readonly nodeName: string
  readonly clock: Clock
  readonly log: Log
  /** Writes --kubeconfig so that it names the pair. */
  readonly writeKubeconfig: () => Promise<void>
  readonly signal: AbortSignal
}

const serverTries = 30
const serverWaitMs = 2_000
const signingMs = 3_600_000

export async function bootstrapCertificate(o: BootstrapOptions): Promise<void> {
  const { log, nodeName, signal, store } = o
  await waitForServer(o)
  const current = await store.current()
  let key = current?.key ?? (await store.pendingKey())
  log.info('asking the cluster for a client certificate', { node: nodeName })
  const ask = async (): Promise<string> => {
    const { certificate } = await requestCertificate({
      ...o,
      use: 'client',
      subject: nodeSubject(nodeName),
      names: noNames,
      key,
      naming: 'digest',
      waitMs: signingMs,
      nowMs: () => Number(o.clock.nowNanos() / 1_000_000n),
      signal,
    })
    return certificate
  }
  const certificate = await ask().catch(async (e: unknown) => {
    // The request of this key is of another time, such as one whose certificate has ended: a new key asks under a new name.
    if (!isKeelsonError(e) || e.details['stale'] !== true) throw e
    await store.forgetPendingKey()
    key = await store.pendingKey()
    return ask()
  })
  await store.write(certificate, key)
  await store.forgetPendingKey()
  await o.writeKubeconfig()
  log.info('the client certificate of this node is there', { path: store.currentPath })
}

/** A control plane that is just starting is waited for; one that does not answer is asked all the same. */
async function waitForServer({ api, clock, log, signal }: BootstrapOptions): Promise<void> {
  for (let tried = 1; tried <= serverTries; tried++) {
    try {
      await api.text('/healthz', { signal, timeoutMs: 1_000, retry: 'never' })
      return
    } catch (e) {
      signal.throwIfAborted()
      if (tried === 1)
        log.info('waiting for the API server', { server: api.server, error: asKeelsonError(e) })
    }
    await clock.sleep(serverWaitMs, signal)
  }
}
