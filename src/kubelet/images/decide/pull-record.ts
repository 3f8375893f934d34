// Who may use an image that is on the node already: what was pulled with a secret is only for pods that have that secret. One
// record for each image, in upstream's form, so that either kubelet can read what the other wrote.

export interface PullSecret {
  readonly uid: string
  readonly namespace: string
  readonly name: string
  readonly credentialHash: string
}

/** What an image was pulled with; undefined: nothing, or something of the node, which all of its pods may use. */
export type PulledWith = PullSecret | undefined

interface Access {
  readonly nodePodsAccessible?: boolean
  readonly kubernetesSecrets?: readonly PullSecret[]
}

export interface PullRecord {
  readonly lastUpdatedTime: string
  /** The id of the image. */
  readonly imageRef: string
  /** By repository, with its registry. */
  readonly credentialMapping: Readonly<Record<string, Access>>
}

const apiVersion = 'kubelet.config.k8s.io/v1beta1'
const readVersions = [apiVersion, 'kubelet.config.k8s.io/v1alpha1']
/** Of one image; more pods than that have the same secret again. */
const maxSecrets = 100

export const formatPullRecord = (record: PullRecord): string =>
  JSON.stringify({ kind: 'ImagePulledRecord', apiVersion, ...record })

export const formatPullIntent = (image: string): string =>
  JSON.stringify({ kind: 'ImagePullIntent', apiVersion, image })

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {}
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Undefined: it is not one. */
export function parsePullRecord(text: string): PullRecord | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return undefined
  }
  const { kind, apiVersion: version, imageRef, lastUpdatedTime, credentialMapping } = fieldsOf(parsed)
  if (kind !== 'ImagePulledRecord' || !readVersions.includes(textOf(version))) return undefined
  if (typeof imageRef !== 'string') return undefined
  const mapping = Object.entries(fieldsOf(credentialMapping)).map(([name, access]) => [
    name,
    readAccess(access),
  ])
  return {
    imageRef,
    lastUpdatedTime: textOf(lastUpdatedTime),
    credentialMapping: Object.fromEntries(mapping),
  }
}

/** What is not understood gives access to nobody. */
function readAccess(value: unknown): Access {
  const { nodePodsAccessible, kubernetesSecrets } = fieldsOf(value)
  if (nodePodsAccessible === true) return { nodePodsAccessible }
  return {
    kubernetesSecrets: (Array.isArray(kubernetesSecrets) ? kubernetesSecrets : []).map((entry) => {
      const { uid, namespace, name, credentialHash } = fieldsOf(entry)
      return {
        uid: textOf(uid),
        namespace: textOf(namespace),
        name: textOf(name),
        credentialHash: textOf(credentialHash),
      }
    }),
  }
}

/** The record after one more pull. */
export function recordPull(
  before: PullRecord | undefined,
  pulled: { readonly imageRef: string; readonly repository: string; readonly with: PulledWith },
  time: string,
): PullRecord {
  const { imageRef, repository } = pulled
  const known = before?.credentialMapping[repository] ?? {}
  return {
    lastUpdatedTime: time,
    imageRef,
    credentialMapping: { ...before?.credentialMapping, [repository]: withSecret(known, pulled.with) },
  }
}

function withSecret(known: Access, secret: PulledWith): Access {
  if (secret === undefined || known.nodePodsAccessible === true) return { nodePodsAccessible: true }
  const others = (known.kubernetesSecrets ?? []).filter((s) => !isSamePlace(s, secret))
  return { kubernetesSecrets: [secret, ...others].slice(0, maxSecrets) }
}

const isSamePlace = (a: PullSecret, b: PullSecret): boolean =>
  a.uid !== '' && a.uid === b.uid && a.namespace === b.namespace && a.name === b.name

export type VerificationPolicy =
  | 'NeverVerify'
  | 'NeverVerifyPreloadedImages'
  | 'NeverVerifyAllowlistedImages'
  | 'AlwaysVerify'

interface AccessInput {
  readonly policy: VerificationPolicy
  /** `registry.example.com/team/*` or a whole repository. */
  readonly allowlist: readonly string[]
  readonly repository: string
  readonly record: PullRecord | undefined
  /** A pull of it was begun and its end was not written: it may have been pulled with anything. */
  readonly isIntended: boolean
  readonly podSecrets: readonly PullSecret[]
}

/** Whether the pod may use the image without proving to the registry that it may. */
export function mayUse({
  policy,
  allowlist,
  repository,
  record,
  isIntended,
  podSecrets,
}: AccessInput): boolean {
  const isPulledHere = record !== undefined || isIntended
  if (policy === 'NeverVerify' || (policy === 'NeverVerifyPreloadedImages' && !isPulledHere)) return true
  if (policy === 'NeverVerifyAllowlistedImages' && allowlist.some((entry) => isListed(entry, repository)))
    return true
  const access = record?.credentialMapping[repository]
  if (access === undefined) return false
  if (access.nodePodsAccessible === true) return true
  return (access.kubernetesSecrets ?? []).some((known) =>
    podSecrets.some(
      (own) =>
        isSamePlace(own, known) ||
        (known.credentialHash !== '' && own.credentialHash === known.credentialHash),
    ),
  )
}

const isListed = (entry: string, repository: string): boolean =>
  entry.endsWith('/*') ? repository.startsWith(entry.slice(0, -1)) : repository === entry
