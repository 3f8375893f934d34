// Keeps a certificate renewed: waits for its time, asks with a new key, writes the pair. Failures are waited out; the old
// pair stays in use until it ends.
import { asKeelsonError, isKeelsonError } from '../../core/errors.js'
import type { Certificates, HostNames, PairStore, StoredPair } from '../../ports/certificates.js'
import type { Clock } from '../../ports/clock.js'
import type { KubeApi } from '../../ports/kube-api.js'
import type { Log } from '../../ports/log.js'
import { type CertificateUse, nodeSubject, noNames } from './decide/request.js'
import { rotationDueMs, type TakenAt, timeForPair } from './decide/rotation.js'
import { requestCertificate } from './request-certificate.js'

export interface RotateOptions {
  readonly api: KubeApi
  readonly certificates: Certificates
  readonly store: PairStore
  readonly use: CertificateUse
  readonly nodeName: string
  /** Undefined: not known yet; asked again with each look. */
  readonly names: () => HostNames | undefined
  readonly clock: Clock
  readonly log: Log
  readonly random: () => number
  /** Told of each pair that is in use, the first one too. */
  readonly onPair: (pair: StoredPair, before: StoredPair | undefined) => void
  readonly onFailure: () => void
  /** The pair that is there is renewed at once, whatever is left of its life. */
  readonly renewNow?: boolean
  /** Another way to a certificate, for when this one has ended and the API server does not take it any more. */
  readonly whenEnded?: () => Promise<void>
  readonly signal: AbortSignal
}

/** The clock may jump and addresses may change: the time is looked at again this often. */
const lookMs = 10_000
const firstWaitMs = 2_000
const longestWaitMs = 32_000
const signingMs = 900_000

export async function keepCertificate(o: RotateOptions): Promise<void> {
  const { clock, log, signal, store, use } = o
  const nowMs = (): number => Number(clock.nowNanos() / 1_000_000n)
  const clocks = (): TakenAt => ({
    wallMs: nowMs(),
    monotonicMs: Number(clock.monotonicNanos() / 1_000_000n),
  })
  const pause = async (ms: number): Promise<void> => {
    await clock.sleep(ms, signal).catch(() => undefined)
  }
  let pair = await store.current()
  let taken = clocks()
  /** What the API server's clock had reached when the pair came; 0: not known. */
  let knownMs = 0
  const timeNow = (): number => timeForPair(pair, taken, clocks(), knownMs)
  if (pair !== undefined) o.onPair(pair, undefined)
  let random = o.random()
  let waitMs = firstWaitMs
  let { renewNow = false } = o
  while (!signal.aborted) {
    const names = o.names()
    const subject = nodeSubject(o.nodeName)
    const dueMs = renewNow ? 0 : rotationDueMs({ pair, subject, names: names ?? noNames, random })
    if (names === undefined || timeNow() < dueMs) {
      await pause(lookMs)
      continue
    }
    try {
      // It may have been replaced by someone else meanwhile.
      const found = await store.current()
      if (found !== undefined && found.certificate !== pair?.certificate) {
        o.onPair(found, pair)
        pair = found
        renewNow = false
        taken = clocks()
        knownMs = 0
        continue
      }
      if (pair !== undefined && timeNow() >= pair.facts.notAfterMs && o.whenEnded !== undefined) {
        await o.whenEnded()
        continue
      }
      const key = o.certificates.newKey()
      log.info('asking the cluster for a new certificate', { use })
      const { certificate, createdMs } = await requestCertificate({
        ...o,
        subject,
        names,
        key,
        naming: 'random',
        waitMs: signingMs,
        nowMs,
      })
      const before = pair
      pair = await store.write(certificate, key)
      renewNow = false
      taken = clocks()
      knownMs = createdMs
      random = o.random()
      waitMs = firstWaitMs
      log.info('a new certificate is in use', {
        use,
        notAfter: new Date(pair.facts.notAfterMs).toISOString(),
      })
      o.onPair(pair, before)
      // A signer whose certificates are short must not be asked without a pause.
      await pause(firstWaitMs)
    } catch (e) {
      if (signal.aborted) return
      if (!isKeelsonError(e)) throw e
      o.onFailure()
      log.warn('the certificate was not renewed; retrying', { use, error: asKeelsonError(e), waitMs })
      await pause(waitMs * (1 + o.random() * 0.1))
      waitMs = Math.min(waitMs * 2, longestWaitMs)
    }
  }
}
