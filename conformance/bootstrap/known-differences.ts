// Where Keelson and kubeadm differ on purpose. docs/conformance.md explains each entry under the same name; a
// difference that matches no entry fails the unit, and so does an entry that matches nothing any more.
import type { Difference } from './compare.js'
import type { Profile } from './keelson.js'
import type { Minor, Scenario } from './scenario.js'

export interface ComparedRun {
  readonly scenario: Scenario
  readonly minor: Minor
  readonly profile: Profile
}

interface KnownDifference {
  readonly name: string
  /** False for the long tail that says the same on every init. */
  readonly worthShowing: boolean
  matches(difference: Difference, run: ComparedRun): boolean
}

const absent = '(absent)'
const kubeletDocument = /^(config\.yaml|ConfigMap kubelet-config): (\w+)$/
const kubeadmDocument = /^ConfigMap kubeadm-config: (\w+)$/

/** What kubeadm itself puts into a KubeletConfiguration that does not say otherwise. */
const kubeletDefaults = [
  'authentication',
  'authorization',
  'clusterDNS',
  'healthzBindAddress',
  'rotateCertificates',
]
const kubeletDefaultKeys = new Set([...kubeletDefaults, 'staticPodPath'])
/** Go's zero values, which a kubelet reads as "not set". */
const isZero = (value: string) => value === '0s' || value === '{}' || /^\{"flushFrequency":0,/.test(value)

const knownDifferences: readonly KnownDifference[] = [
  {
    name: 'zero-values',
    worthShowing: false,
    matches: ({ item, kubeadm, keelson }, { scenario }) =>
      scenario.command === 'init' && kubeletDocument.test(item) && keelson === absent && isZero(kubeadm),
  },
  {
    name: 'kubelet-defaults',
    worthShowing: false,
    matches: ({ item, keelson }, { scenario }) =>
      scenario.command === 'init' &&
      keelson === absent &&
      kubeletDefaultKeys.has(kubeletDocument.exec(item)?.[2] ?? ''),
  },
  {
    name: 'cluster-defaults',
    worthShowing: false,
    matches: ({ item, keelson }, { scenario }) =>
      scenario.command === 'init' && keelson === absent && kubeadmDocument.test(item),
  },
  {
    name: 'certificates',
    worthShowing: false,
    matches: ({ item }, { scenario }) => scenario.command === 'join' && item === 'files of /etc/kubernetes',
  },
  {
    name: 'patch-priority',
    worthShowing: true,
    matches: ({ item }, { scenario, profile }) =>
      profile === 'kep' &&
      scenario.patches?.['kubeletconfiguration.yaml'] !== undefined &&
      item === 'config.yaml: containerRuntimeEndpoint',
  },
  {
    name: 'detected-socket-uploaded',
    worthShowing: true,
    matches: ({ item }, { scenario, profile }) =>
      profile === 'kep' &&
      scenario.command === 'init' &&
      scenario.criSocket === undefined &&
      item === 'ConfigMap kubelet-config: containerRuntimeEndpoint',
  },
  {
    name: 'locked-gate',
    worthShowing: true,
    matches: ({ item }, { scenario, minor }) =>
      minor === '1.36' && scenario.gate === false && !item.startsWith('ConfigMap'),
  },
  {
    name: 'flag-restored',
    worthShowing: true,
    matches: ({ item }, { scenario, minor }) =>
      minor === '1.35' &&
      scenario.gate === false &&
      scenario.files?.['/var/lib/kubelet/instance-config.yaml'] !== undefined &&
      item === 'kubeadm-flags.env',
  },
  {
    name: 'flag-absent',
    worthShowing: true,
    matches: ({ item, kubeadm }, { scenario, minor }) =>
      minor !== '1.37' &&
      scenario.command === 'upgrade node' &&
      kubeadm === '' &&
      /^(instance-)?config\.yaml: containerRuntimeEndpoint$/.test(item),
  },
]

const seen = new Set<string>()

/** The entry that explains a difference. */
export function explain(difference: Difference, run: ComparedRun): KnownDifference | undefined {
  const known = knownDifferences.find((k) => k.matches(difference, run))
  if (known !== undefined) seen.add(known.name)
  return known
}

/** Every name that the page has to explain, those of refusals included. */
export const differenceNames = (scenarios: readonly Scenario[]): string[] => [
  ...new Set([
    ...knownDifferences.map((k) => k.name),
    ...scenarios.flatMap((s) => (s.refusalDiffersBy === undefined ? [] : [s.refusalDiffersBy])),
  ]),
]

export const unusedExplanations = (): string[] =>
  knownDifferences.map((k) => k.name).filter((n) => !seen.has(n))
