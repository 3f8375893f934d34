// Interfaces of a pod's network namespace. They belong to the pod, once for each interface, never to its containers.
import type { NetDev } from '../../core/kernel-text/net-dev.js'
import type { Emit } from '../catalogue/family.js'
import { type ExtraLabels, extraLabels } from '../catalogue/family.js'
import { networkFamilies as f } from '../catalogue/network.js'
import type { CollectContext } from './collector.js'

export interface NetworkValues {
  /** eth0, or but for profile upstream the first one. Undefined: there is none besides the loopback. */
  readonly defaultInterface: NetDev | undefined
  /** Without the default one. */
  readonly others: readonly NetDev[]
}

/** Ends of pairs and bridges: what passes them is counted at the other end already. */
const notOurs = /^(veth|docker|nerdctl)/

/** False: the loopback, and interfaces whose traffic is counted elsewhere. */
export const isCounted = (name: string): boolean => name !== 'lo' && !notOurs.test(name)

export function networkValues(
  interfaces: readonly NetDev[],
  { asCadvisor = false }: Pick<CollectContext, 'asCadvisor'> = {},
): NetworkValues {
  const ours = interfaces.filter(({ name }) => isCounted(name))
  const defaultInterface = ours.find(({ name }) => name === 'eth0') ?? (asCadvisor ? undefined : ours[0])
  return { defaultInterface, others: ours.filter((i) => i !== defaultInterface) }
}

const labelsOf = new Map<string, ExtraLabels>()
const MAX_KEPT = 4_096

export function interfaceLabels(name: string): ExtraLabels {
  const known = labelsOf.get(name)
  if (known !== undefined) return known
  if (labelsOf.size >= MAX_KEPT) labelsOf.clear()
  const labels = extraLabels({ interface: name })
  labelsOf.set(name, labels)
  return labels
}

export function emitNetwork({ defaultInterface, others }: NetworkValues, emit: Emit): void {
  for (const i of defaultInterface === undefined ? others : [defaultInterface, ...others]) {
    const labels = interfaceLabels(i.name)
    emit(f.container_network_receive_bytes_total, i.rxBytes, labels)
    emit(f.container_network_receive_errors_total, i.rxErrors, labels)
    emit(f.container_network_receive_packets_dropped_total, i.rxDropped, labels)
    emit(f.container_network_receive_packets_total, i.rxPackets, labels)
    emit(f.container_network_transmit_bytes_total, i.txBytes, labels)
    emit(f.container_network_transmit_errors_total, i.txErrors, labels)
    emit(f.container_network_transmit_packets_dropped_total, i.txDropped, labels)
    emit(f.container_network_transmit_packets_total, i.txPackets, labels)
  }
}
