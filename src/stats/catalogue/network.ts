// Families of network interfaces; they belong to the pod.
import { define } from './family.js'

export const networkFamilies = {
  container_network_receive_bytes_total: define.counter(
    'container_network_receive_bytes_total',
    'network',
    'pod',
    'Bytes received.',
    { extraLabels: ['interface'] },
  ),
  container_network_receive_errors_total: define.counter(
    'container_network_receive_errors_total',
    'network',
    'pod',
    'Receive errors.',
    { extraLabels: ['interface'] },
  ),
  container_network_receive_packets_dropped_total: define.counter(
    'container_network_receive_packets_dropped_total',
    'network',
    'pod',
    'Received packets that were dropped.',
    { extraLabels: ['interface'] },
  ),
  container_network_receive_packets_total: define.counter(
    'container_network_receive_packets_total',
    'network',
    'pod',
    'Packets received.',
    { extraLabels: ['interface'] },
  ),
  container_network_transmit_bytes_total: define.counter(
    'container_network_transmit_bytes_total',
    'network',
    'pod',
    'Bytes sent.',
    { extraLabels: ['interface'] },
  ),
  container_network_transmit_errors_total: define.counter(
    'container_network_transmit_errors_total',
    'network',
    'pod',
    'Transmit errors.',
    { extraLabels: ['interface'] },
  ),
  container_network_transmit_packets_dropped_total: define.counter(
    'container_network_transmit_packets_dropped_total',
    'network',
    'pod',
    'Packets that were dropped instead of sent.',
    { extraLabels: ['interface'] },
  ),
  container_network_transmit_packets_total: define.counter(
    'container_network_transmit_packets_total',
    'network',
    'pod',
    'Packets sent.',
    { extraLabels: ['interface'] },
  ),
} as const
