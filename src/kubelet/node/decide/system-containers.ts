// Which cgroups the summary shows as the system containers `kubelet`, `runtime` and `misc`, by upstream's rules.
import type { CgroupMembership } from '../../../core/kernel-text/proc-cgroup.js'

interface SystemContainersInput {
  readonly kubeletCgroups: string | undefined
  readonly systemCgroups: string | undefined
  /** --runtime-cgroups. */
  readonly runtimeCgroups: string | undefined
  /** Where this process is now. */
  readonly own: CgroupMembership | undefined
  readonly version: 'v1' | 'v2'
}

/** On v1 CPU and memory are counted apart: without one name for both there is no cgroup of the kubelet. */
function ownCgroup({ own, version }: SystemContainersInput): string | undefined {
  if (version === 'v2') return own?.unified
  const memory = own?.controllers.get('memory')
  return own?.controllers.get('cpu') === memory ? memory : undefined
}

/** The root is the whole node, and a path above the cgroup namespace cannot be read. */
const isOne = (path: string | undefined): path is string =>
  path !== undefined && path !== '' && path !== '/' && !path.startsWith('/..')

const absolute = (path: string): string => (path.startsWith('/') ? path : `/${path}`)

export function systemContainers(input: SystemContainersInput): Readonly<Record<string, string>> {
  const named = {
    kubelet: input.kubeletCgroups ?? ownCgroup(input),
    runtime: input.runtimeCgroups,
    misc: input.systemCgroups,
  }
  return Object.fromEntries(
    Object.entries(named).flatMap(([name, path]) => (isOne(path) ? [[name, absolute(path)]] : [])),
  )
}
