// Labels that a Node is created with, and which of them a node may give itself.
import { keelsonError } from '../../../core/errors.js'

const hostnameLabel = 'kubernetes.io/hostname'
const osLabels = ['kubernetes.io/os', 'beta.kubernetes.io/os']
const archLabels = ['kubernetes.io/arch', 'beta.kubernetes.io/arch']

/** Brought up to date on a Node that is there already. */
export const reconciledLabels: readonly string[] = [
  hostnameLabel,
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
  ...osLabels,
  ...archLabels,
]

const free = new Set(reconciledLabels)

export const defaultLabels = (
  hostname: string,
  os: string,
  arch: string,
): Readonly<Record<string, string>> => ({
  [hostnameLabel]: hostname,
  ...Object.fromEntries(osLabels.map((label) => [label, os])),
  ...Object.fromEntries(archLabels.map((label) => [label, arch])),
})

/** `a=b,c=d` of --node-labels. Refused where the API server would refuse the whole Node. */
export function parseNodeLabels(text: string): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {}
  for (const part of text.split(',').filter((p) => p.trim() !== '')) {
    const at = part.indexOf('=')
    const key = (at < 0 ? part : part.slice(0, at)).trim()
    labels[key] = at < 0 ? '' : part.slice(at + 1).trim()
    if (!mayLabelItself(key))
      throw keelsonError(
        'usage.invalid',
        `--node-labels ${key}: a node may not give itself this label; label it with kubectl label node`,
      )
  }
  return labels
}

/** The rules of the admission plugin NodeRestriction. */
function mayLabelItself(key: string): boolean {
  const slash = key.indexOf('/')
  const domain = slash < 0 ? '' : key.slice(0, slash)
  const isBelow = (parent: string): boolean => domain === parent || domain.endsWith(`.${parent}`)
  if (isBelow('node-restriction.kubernetes.io')) return false
  if (!isBelow('kubernetes.io') && !isBelow('k8s.io')) return true
  return free.has(key) || isBelow('kubelet.kubernetes.io') || isBelow('node.kubernetes.io')
}
