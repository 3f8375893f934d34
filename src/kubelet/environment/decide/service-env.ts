// Services as variables of a container, as Docker links had them: NAME_SERVICE_HOST, NAME_PORT_80_TCP_ADDR and the like.
import type { KubeService } from '../../../core/kube/objects.js'

/** Every pod needs its way to the API server, wherever it runs and whatever it asks for. */
const isMaster = ({ metadata }: KubeService): boolean =>
  metadata?.namespace === 'default' && metadata.name === 'kubernetes'

export function serviceEnv(
  services: readonly KubeService[],
  namespace: string,
  enableServiceLinks: boolean,
): ReadonlyMap<string, string> {
  const named = new Map<string, KubeService>()
  for (const service of services) {
    const name = service.metadata?.name ?? ''
    const ip = service.spec?.clusterIP ?? ''
    if (name === '' || ip === '' || ip === 'None') continue
    if (isMaster(service)) {
      if (!named.has(name)) named.set(name, service)
    } else if (enableServiceLinks && service.metadata?.namespace === namespace) named.set(name, service)
  }
  return new Map([...named].flatMap(([name, service]) => variablesOf(name, service)))
}

const upper = (name: string): string => name.replaceAll('-', '_').toUpperCase()

function variablesOf(name: string, { spec }: KubeService): readonly (readonly [string, string])[] {
  const prefix = upper(name)
  const ip = spec?.clusterIP ?? ''
  const ports = spec?.ports ?? []
  const [first] = ports
  if (first === undefined) return [[`${prefix}_SERVICE_HOST`, ip]]
  const url = ({ port, protocol = 'TCP' }: (typeof ports)[number]): string =>
    `${protocol.toLowerCase()}://${ip.includes(':') ? `[${ip}]` : ip}:${port}`
  return [
    [`${prefix}_SERVICE_HOST`, ip],
    [`${prefix}_SERVICE_PORT`, String(first.port)],
    ...ports.flatMap(({ name: portName = '', port }) =>
      portName === '' ? [] : [[`${prefix}_SERVICE_PORT_${upper(portName)}`, String(port)] as const],
    ),
    [`${prefix}_PORT`, url(first)],
    ...ports.flatMap((port) => {
      const protocol = port.protocol ?? 'TCP'
      const own = `${prefix}_PORT_${port.port}_${protocol.toUpperCase()}`
      return [
        [own, url(port)],
        [`${own}_PROTO`, protocol.toLowerCase()],
        [`${own}_PORT`, String(port.port)],
        [`${own}_ADDR`, ip],
      ] as const
    }),
  ]
}
