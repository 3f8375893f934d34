// Which sysctls a pod may set: those that are safe, and those that allowedUnsafeSysctls adds; none of a namespace that is the host's.
import type { PodSpec } from '../../../core/pod/spec/spec.js'

/** Namespaced by the kernel, so that one pod cannot disturb another: what the kubelet allows without being told. */
const safeSysctls: ReadonlySet<string> = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_wmem',
  'net.ipv4.tcp_slow_start_after_idle',
  'net.ipv4.tcp_notsent_lowat',
])

const namespaces = [
  { name: 'IPC', prefixes: ['kernel.sem', 'kernel.shm', 'kernel.msg', 'fs.mqueue.'] },
  { name: 'Net', prefixes: ['net.'] },
] as const

/** Undefined: all of them may be set. `allowed`: names, or beginnings that end with `*`. */
export function sysctlProblem(
  { security, hostIPC, hostNetwork }: Pick<PodSpec, 'security' | 'hostIPC' | 'hostNetwork'>,
  allowed: readonly string[],
): string | undefined {
  for (const name of security.sysctls.keys()) {
    if (!safeSysctls.has(name) && !allowed.some((pattern) => matches(pattern, name)))
      return `forbidden sysctl: ${JSON.stringify(name)} not allowlisted`
    const namespace = namespaces.find(({ prefixes }) =>
      prefixes.some((prefix) => name.startsWith(prefix)),
    )?.name
    if ((namespace === 'IPC' && hostIPC) || (namespace === 'Net' && hostNetwork))
      return `forbidden sysctl: ${JSON.stringify(name)} not allowed with host ${namespace} enabled`
  }
  return undefined
}

const matches = (pattern: string, name: string): boolean => {
  const normal = pattern.replaceAll('/', '.')
  return normal.endsWith('*') ? name.startsWith(normal.slice(0, -1)) : name === normal
}
