// Whether the ports of the host that a pod wants are free. A port of all addresses is taken by one of any address.
import { allContainerSpecs, type ContainerPort, type PodSpec } from '../../../core/pod/spec/spec.js'

export function hostPortsAreFree(pod: PodSpec, others: readonly PodSpec[]): boolean {
  const taken = others.flatMap(hostPorts)
  return hostPorts(pod).every((port) => !taken.some((other) => collide(port, other)))
}

const hostPorts = (spec: PodSpec): readonly ContainerPort[] =>
  allContainerSpecs(spec)
    .filter(({ kind }) => kind !== 'init')
    .flatMap(({ ports }) => ports.filter(({ hostPort }) => hostPort > 0))

const everyAddress = '0.0.0.0'
const addressOf = ({ hostIP }: ContainerPort): string => (hostIP === '' ? everyAddress : hostIP)

function collide(a: ContainerPort, b: ContainerPort): boolean {
  if (a.hostPort !== b.hostPort || a.protocol !== b.protocol) return false
  const [one, two] = [addressOf(a), addressOf(b)]
  return one === two || one === everyAddress || two === everyAddress
}
