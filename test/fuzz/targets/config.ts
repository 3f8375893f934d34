// Configuration: mutated files, drop-ins and command lines through the whole road to the effective configuration.

import { configError, loadConfig } from '../../../src/config/load.js'
import { defaultVersion } from '../../../src/core/release/version.js'
import { mutateText, type Random } from '../random.js'
import { check, type FuzzTarget } from '../types.js'

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const lines = [
  'cgroupDriver: systemd',
  'memoryThrottlingFactor: 0.8',
  'memoryThrottlingFactor: null',
  'memoryReservationPolicy: TieredReservation',
  'featureGates: {MemoryQoS: true}',
  'featureGates:\n  AllAlpha: true\n  EventedPLEG: false',
  'kubeReserved: {cpu: 100m, memory: 1Gi}',
  'evictionHard:\n  memory.available: 5%',
  'enforceNodeAllocatable: [pods, kube-reserved]',
  'kubeReservedCgroup: /kube.slice',
  'authentication: &a {anonymous: {enabled: no}}',
  'authorization: {<<: *a, mode: Webhook}',
  'runtimeRequestTimeout: 2m0s',
  'port: 0x2710',
  'clusterDNS: [10.96.0.10]',
  'logging: {verbosity: 4}',
  '"__proto__": {a: 1}',
] as const
const keelsons = [
  'apiVersion: keelson.dev/v1alpha1\nkind: KeelsonConfiguration\nkubernetesVersion: "1.33"\nprofile: upstream\n',
  'apiVersion: keelson.dev/v1alpha1\nkind: KeelsonConfiguration\nstages: {MemoryQoS: beta}\nports: {cri: 0}\n',
  '',
] as const
const flags = [
  '--cgroup-driver=systemd',
  '--kube-reserved=cpu=1,memory=1Gi',
  '--feature-gates=MemoryQoS=true,AllBeta=false',
  '--eviction-hard=memory.available<100Mi',
  '--v=2',
  '--strict',
  '--kubernetes-version=1.28',
  '--bootstrap-kubeconfig=/b',
  '--',
] as const

interface Input {
  readonly kubelet: string
  readonly dropIn: string
  readonly keelson: string
  readonly flags: readonly string[]
}

/** Mostly as written, so that the steps after parsing see work too. */
const perhapsMutated = (text: string, percent: number, random: Random): string =>
  random.chance(percent) ? mutateText(text, random) : text

const document = (random: Random): string => {
  const chosen = new Set<string>()
  for (let n = random.below(4); n > 0; n -= 1) chosen.add(random.pick(lines))
  return perhapsMutated(`${head}${[...chosen].join('\n')}\n`, 30, random)
}

const encoder = new TextEncoder()

export const config: FuzzTarget = {
  name: 'config',
  generate: (random: Random): Input => ({
    kubelet: document(random),
    dropIn: document(random),
    keelson: perhapsMutated(random.pick(keelsons), 20, random),
    flags: Array.from({ length: random.below(3) }, () => perhapsMutated(random.pick(flags), 30, random)),
  }),
  run(input: unknown): void {
    const { kubelet, dropIn, keelson, flags: argv } = input as Input
    const loaded = loadConfig({
      kubelet: { path: 'config.yaml', bytes: encoder.encode(kubelet) },
      dropIns: [{ path: '10-a.conf', bytes: encoder.encode(dropIn) }],
      ...(keelson === '' ? {} : { keelson: { path: 'keelson.yaml', bytes: encoder.encode(keelson) } }),
      flags: argv,
    })
    const { config: effective, problems, warnings } = loaded
    check(Object.isFrozen(effective) && Object.isFrozen(effective.kubelet), 'the configuration is frozen')
    check(
      effective.kubelet.port >= 1 && effective.kubelet.port <= 65535,
      'a port is a port, whatever was written',
    )
    check(
      effective.version.minor >= 20 && effective.version.minor <= defaultVersion.minor + 2,
      'a known release',
    )
    for (const p of [...problems, ...warnings]) check(p.message !== '', 'a finding says what it found')
    if (problems.length > 0) throw configError(problems)
    const { enabled, factor } = effective.memoryQos
    check(factor === undefined || (factor > 0 && factor <= 1), 'a factor in use is in its range')
    check(enabled || factor === undefined, 'no factor without the gate')
  },
}
