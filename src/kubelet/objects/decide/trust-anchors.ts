// Which certificates a projected trust bundle holds: those of one bundle, or of all bundles of a signer that its labels select,
// each once and in a stable order.
import { keelsonError } from '../../../core/errors.js'
import type { ClusterTrustBundle } from '../../../core/kube/objects.js'
import type { TrustBundleProjection, TrustBundleSelector } from '../../../core/pod/spec/volume.js'

export function trustAnchorsOf(source: TrustBundleProjection, all: readonly ClusterTrustBundle[]): string {
  const found = selected(source, all)
  if (found.length === 0 && !source.optional)
    throw keelsonError(
      'pod.volume',
      'name' in source.of
        ? `clustertrustbundle.certificates.k8s.io "${source.of.name}" not found`
        : 'combined trust bundle is empty',
    )
  const blocks = found.flatMap(({ spec }) => certificates(spec?.trustBundle ?? ''))
  return [...new Set(blocks)].sort().join('')
}

function selected({ of }: TrustBundleProjection, all: readonly ClusterTrustBundle[]) {
  if ('name' in of) return all.filter(({ metadata }) => metadata?.name === of.name)
  const { labels } = of
  if (labels === undefined) return []
  return all.filter(
    ({ metadata, spec }) => spec?.signerName === of.signerName && matches(labels, metadata?.labels ?? {}),
  )
}

function matches(
  { matchLabels, matchExpressions }: TrustBundleSelector,
  labels: Readonly<Record<string, string>>,
): boolean {
  const of = (key: string): string | undefined => (Object.hasOwn(labels, key) ? labels[key] : undefined)
  return (
    [...matchLabels].every(([key, value]) => of(key) === value) &&
    matchExpressions.every((rule) => fits(rule, of(rule.key)))
  )
}

function fits(
  { operator, values }: TrustBundleSelector['matchExpressions'][number],
  value: string | undefined,
): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
  }
}

/** Without the comments between them. */
const certificates = (pem: string): readonly string[] =>
  (pem.match(/-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]*?-----END CERTIFICATE-----/g) ?? []).map(
    (block) => `${block}\n`,
  )
