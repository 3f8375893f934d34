// One request for a certificate, from the CSR to the certificate in our hands. A request that is there already, made with the
// same key, is taken over: a restart does not ask twice.
import { keelsonError } from '../../core/errors.js'
import type { CertificateSigningRequest, KubeObject } from '../../core/kube/objects.js'
import { certificateRequests, collectionPath, objectPath } from '../../core/kube/path.js'
import { callStatusOf } from '../../core/kube/retry.js'
import type { Certificates, HostNames, Subject } from '../../ports/certificates.js'
import type { Clock } from '../../ports/clock.js'
import type { KubeApi } from '../../ports/kube-api.js'
import { type CertificateUse, signerOf, usagesOf } from './decide/request.js'
import { requestState } from './decide/request-state.js'

interface CertificateRequest {
  readonly api: KubeApi
  readonly certificates: Certificates
  readonly use: CertificateUse
  readonly subject: Subject
  readonly names: HostNames
  readonly key: string
  /** `digest`: the same key asks under the same name. */
  readonly naming: 'digest' | 'random'
  readonly waitMs: number
  readonly clock: Pick<Clock, 'sleep'>
  readonly nowMs: () => number
  readonly signal: AbortSignal
}

/** Errors: kubeapi.failed; certificate.refused when the request was denied, or nobody signed it in time. */
export async function requestCertificate(r: CertificateRequest): Promise<IssuedCertificate> {
  const { name, createdMs } = await createOrTake(r)
  return { certificate: await waitForCertificate(r, name), createdMs }
}

interface IssuedCertificate {
  readonly certificate: string
  /** When the request was created, by the clock of the API server. */
  readonly createdMs: number
}

const namedRequest = ({ metadata }: CertificateSigningRequest, name: string) => ({
  name: metadata?.name ?? name,
  createdMs: Date.parse(metadata?.creationTimestamp ?? '') || 0,
})

async function createOrTake(r: CertificateRequest): Promise<ReturnType<typeof namedRequest>> {
  const { api, certificates, key, signal, subject, use } = r
  const usages = usagesOf(use, certificates.keyType(key))
  const digest = certificates.requestName(key, subject, usages)
  const request = await certificates.createRequest(key, subject, r.names)
  const object: CertificateSigningRequest = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: r.naming === 'digest' ? { name: digest } : { generateName: 'csr-' },
    spec: { request: toBase64(request), signerName: signerOf[use], usages },
  }
  const options = { signal, doing: 'ask the cluster for a certificate' }
  try {
    const created = await api.create(collectionPath(certificateRequests), object, options)
    return namedRequest(created, digest)
  } catch (e) {
    if (r.naming !== 'digest' || callStatusOf(e) !== 409) throw e
    const path = objectPath(certificateRequests, { name: digest })
    const found = await api.get<CertificateSigningRequest>(path, options)
    if (found === undefined || !(await isOurs(found, r)))
      throw keelsonError(
        'certificate.refused',
        `ask for a certificate: ${digest} is a request of another key or time`,
        {
          name: digest,
          stale: true,
        },
      )
    return namedRequest(found, digest)
  }
}

async function isOurs(found: CertificateSigningRequest, r: CertificateRequest): Promise<boolean> {
  if (found.spec?.signerName !== signerOf[r.use]) return false
  if (!(await r.certificates.isRequestOf(fromBase64(found.spec.request ?? ''), r.key, r.subject)))
    return false
  const state = requestState(found)
  if (state.kind !== 'issued') return true
  const facts = r.certificates.describe(state.certificate, r.key)
  return facts !== undefined && facts.notBeforeMs <= r.nowMs() && r.nowMs() < facts.notAfterMs
}

async function waitForCertificate(r: CertificateRequest, name: string): Promise<string> {
  const stop = new AbortController()
  const onAbort = (): void => stop.abort()
  r.signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await new Promise<string>((resolve, reject) => {
      const refuse = (why: string): void =>
        reject(keelsonError('certificate.refused', `the request ${name} for a certificate: ${why}`, { name }))
      const take = (object: KubeObject): void => {
        const state = requestState(object)
        if (state.kind === 'issued') resolve(state.certificate)
        else if (state.kind === 'refused') refuse(state.why)
      }
      const late = (): void =>
        refuse(
          `nobody approved and signed it in ${Math.round(r.waitMs / 60_000)} min; kubectl certificate approve ${name}`,
        )
      r.clock.sleep(r.waitMs, stop.signal).then(late, () => undefined)
      const isIt = (object: KubeObject): boolean => object.metadata?.name === name
      const store = {
        replace(objects: readonly KubeObject[]) {
          const found = objects.find(isIt)
          if (found === undefined) refuse('it was deleted')
          else take(found)
        },
        put: (object: KubeObject) => isIt(object) && take(object),
        remove: (object: KubeObject) => isIt(object) && refuse('it was deleted'),
      }
      const selection = { fieldSelector: `metadata.name=${name}` }
      r.api
        .follow(collectionPath(certificateRequests), selection, store, stop.signal)
        .then(() => reject(r.signal.reason ?? new Error('ending')), reject)
    })
  } finally {
    stop.abort()
    r.signal.removeEventListener('abort', onAbort)
  }
}

const toBase64 = (text: string): string => btoa(text)
const fromBase64 = (text: string): string => {
  try {
    return atob(text)
  } catch {
    return ''
  }
}
