// What a person should know about Memory QoS on this node: each finding names its subject, what is wrong and what to do.
// Findings never stop a pass.

import type { PodName } from '../pod/origin.js'
import type { MemoryQosSettings } from './settings.js'

export const findingIds = [
  'cgroup-v1',
  'memory-controller-missing',
  'kernel-too-old',
  'protection-near-capacity',
  'protection-over-capacity',
  'min-near-max',
  'kubepods-below-unprotected-parent',
  'reserved-below-unprotected-parent',
  'reserved-cgroup-missing',
  'high-below-usage',
  'drift',
  'unified-ignored',
  'write-failed',
  'pod-refused',
  'pod-skipped',
] as const

type FindingId = (typeof findingIds)[number]

export interface Finding {
  readonly id: FindingId
  /** A cgroup path, `pod NAMESPACE/NAME`, or `node`. */
  readonly subject: string
  readonly message: string
  readonly remedy: string
}

/** From here on a sum of protections counts as near the capacity. */
const nearShare = { of: 100n, at: 90n }

export interface NodeFindingsInput {
  readonly memoryQos: MemoryQosSettings
  readonly controllers: readonly string[]
  /** kernel-check.ts, when the kernel is a risk. */
  readonly kernelMessage: string | undefined
  /** memory.min of kubepods and of the reserved cgroups. */
  readonly protectedBytes: bigint
  readonly memoryCapacity: bigint
}

export function nodeFindings(i: NodeFindingsInput): readonly Finding[] {
  if (!i.memoryQos.enabled) return []
  const found: Finding[] = []
  const add = (id: FindingId, message: string, remedy: string): void => {
    found.push({ id, subject: 'node', message, remedy })
  }
  if (i.memoryQos.cgroupVersion === 1) {
    add(
      'cgroup-v1',
      'Memory QoS needs cgroup v2; nothing is written',
      'boot with systemd.unified_cgroup_hierarchy=1',
    )
    return found
  }
  if (!i.controllers.includes('memory'))
    add(
      'memory-controller-missing',
      'the memory controller is not enabled at the root of the cgroup tree; nothing can be written',
      'remove cgroup_disable=memory from the kernel command line',
    )
  if (i.kernelMessage !== undefined && i.memoryQos.factor !== undefined)
    add('kernel-too-old', i.kernelMessage, 'upgrade the kernel, or leave memoryThrottlingFactor unset')
  if (i.memoryQos.policy !== 'None' && i.memoryCapacity > 0n) {
    const sum = `${i.protectedBytes} of ${i.memoryCapacity} bytes are protected by memory.min`
    if (i.protectedBytes > i.memoryCapacity)
      add(
        'protection-over-capacity',
        `${sum}: more than the node has, so the kernel protects less than was asked for`,
        'lower memory requests or reservations',
      )
    else if (i.protectedBytes * nearShare.of >= i.memoryCapacity * nearShare.at)
      add(
        'protection-near-capacity',
        `${sum}: what is left may be too little for everything else, and reclaim turns into OOM kills`,
        'lower memory requests, or use TieredReservation, which the kernel may break in need',
      )
  }
  return found
}

interface MinNearMaxInput {
  readonly path: string
  readonly min: bigint
  readonly max: bigint
  /** Page cache of the cgroup now and at the last pass. */
  readonly cache: bigint
  readonly cacheBefore: bigint | undefined
}

/** Reclaim inside the cgroup ignores its own memory.min, but pages above it are all that there is to reclaim. */
export function minNearMax(i: MinNearMaxInput): Finding | undefined {
  if (i.min === 0n || i.min * nearShare.of < i.max * nearShare.at) return undefined
  if (i.cacheBefore === undefined || i.cache <= i.cacheBefore) return undefined
  return {
    id: 'min-near-max',
    subject: i.path,
    message: `memory.min ${i.min} is close to memory.max ${i.max} and the page cache grows (${i.cacheBefore} to ${i.cache})`,
    remedy: 'raise the limit or lower the request, so that the page cache has room',
  }
}

export const unprotectedParent = (level: 'kubepods' | 'reserved', path: string, parent: string): Finding => ({
  id: `${level}-below-unprotected-parent`,
  subject: path,
  message: `${parent} has less memory.min than ${path} below it, so the kernel protects only as much as ${parent} has`,
  remedy: `set memory.min of ${parent} (systemd: MemoryMin=) to at least the same`,
})

export const reservedMissing = (path: string, title: string): Finding => ({
  id: 'reserved-cgroup-missing',
  subject: path,
  message: `${title} is enforced, but its cgroup does not exist: nothing protects those daemons`,
  remedy: 'create the cgroup (a slice under systemd) and move the daemons into it, or do not enforce it',
})

export const highBelowUsage = (path: string, high: string, usage: bigint): Finding => ({
  id: 'high-below-usage',
  subject: path,
  message: `memory.high ${high} is below the ${usage} bytes in use: writing it starts reclaim and throttling; it waits for one period`,
  remedy: 'raise the request or limit of the container, or expect it to be slowed down',
})

/** `kubelet`: the process of the kubelet beside us. Undefined: none was found, or it does not write this file. */
export const driftFinding = (
  path: string,
  file: string,
  wanted: string,
  observed: string,
  kubelet?: number,
): Finding => ({
  id: 'drift',
  subject: path,
  message: `${file} is ${observed} and not ${wanted}: another writer keeps resetting it, and it is no longer restored`,
  remedy: `find the other writer (${kubelet === undefined ? '' : `the kubelet, process ${kubelet}, `}a second agent, a unit file with Memory*= settings) and stop one of the two`,
})

export const unifiedIgnored = (path: string, files: readonly string[]): Finding => ({
  id: 'unified-ignored',
  subject: path,
  message: `the runtime took the update but ${files.join(', ')} did not change`,
  remedy: 'upgrade the runtime: containerd 1.6 or CRI-O 1.22 is the first that passes unified on',
})

export const writeFailed = (path: string, why: string): Finding => ({
  id: 'write-failed',
  subject: path,
  message: why,
  remedy: 'see the error; the next pass tries again',
})

export const podRefused = ({ namespace, name }: PodName, why: string): Finding => ({
  id: 'pod-refused',
  subject: `pod ${namespace}/${name}`,
  message: `pod ${namespace}/${name} does not get what it claims: ${why}`,
  remedy: 'find out who made the pod; only a kubelet sets kubernetes.io/config.hash and config.mirror',
})

export const podSkipped = ({ namespace, name }: PodName, why: string): Finding => ({
  id: 'pod-skipped',
  subject: `pod ${namespace}/${name}`,
  message: `pod ${namespace}/${name} is left alone: ${why}`,
  remedy: "correct metadata.uid in the static pod's manifest",
})
