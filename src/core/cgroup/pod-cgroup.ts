// Where pods live in the cgroup tree: kubepods, the two QoS cgroups below it, one cgroup per pod, and the containers' in that.

import { keelsonError } from '../errors.js'
import type { QosClass } from '../pod/pod.js'
import {
  type CgroupDriver,
  type CgroupName,
  cgroupChild,
  formatCgroupPath,
  parseCgroupfsPath,
} from './name.js'

const classComponent: Readonly<Record<QosClass, readonly string[]>> = {
  Guaranteed: [],
  Burstable: ['burstable'],
  BestEffort: ['besteffort'],
}

/** The configured cgroupRoot, a path in both drivers, and `kubepods` below it. */
export const kubepodsName = (cgroupRoot: string): CgroupName =>
  cgroupChild(parseCgroupfsPath(cgroupRoot), 'kubepods')

/** Guaranteed pods hang directly below kubepods. */
export const qosCgroupName = (cgroupRoot: string, qosClass: QosClass): CgroupName =>
  cgroupChild(kubepodsName(cgroupRoot), ...classComponent[qosClass])

/** `/kubepods/burstable/pod<uid>`. For static pods the uid is their hash, never the mirror pod's. */
export function podCgroupName(uid: string, qosClass: QosClass, cgroupRoot = '/'): CgroupName {
  if (uid === '')
    throw keelsonError('cgroup-name.invalid', 'the pod has no uid, so it has no cgroup; set metadata.uid')
  if (/\s/.test(uid))
    throw keelsonError(
      'cgroup-name.invalid',
      `the pod's uid ${JSON.stringify(uid.slice(0, 80))} contains a blank`,
    )
  return cgroupChild(qosCgroupName(cgroupRoot, qosClass), `pod${uid}`)
}

/** `PodSandboxConfig.linux.cgroup_parent`: the full path in both drivers, with a leading slash. */
export const cgroupParent = (name: CgroupName, driver: CgroupDriver): string => formatCgroupPath(name, driver)

/** Reads a pod cgroup's name back; undefined when it is something else. */
export function parsePodCgroupName(
  name: CgroupName,
  cgroupRoot = '/',
): { readonly uid: string; readonly qosClass: QosClass } | undefined {
  const kubepods = kubepodsName(cgroupRoot)
  if (!kubepods.every((component, i) => name[i] === component)) return undefined
  const [first, second, ...more] = name.slice(kubepods.length)
  if (first === undefined || more.length > 0) return undefined
  const qosClass = first === 'burstable' ? 'Burstable' : first === 'besteffort' ? 'BestEffort' : 'Guaranteed'
  const podPart = qosClass === 'Guaranteed' ? first : second
  if (qosClass === 'Guaranteed' && second !== undefined) return undefined
  if (podPart === undefined || !podPart.startsWith('pod') || podPart === 'pod') return undefined
  return { uid: podPart.slice('pod'.length), qosClass }
}

/**
 * Which child of a pod's cgroup is a container's: runtimes put its id into the name, each in its own way. `<id>`,
 * `cri-containerd-<id>.scope`, `crio-<id>.scope`; conmon's own cgroup carries the id too and is not it.
 */
export function findContainerCgroup(children: readonly string[], id: string): string | undefined {
  return children.find(
    (name) =>
      !name.startsWith('crio-conmon-') &&
      (name === id || name.endsWith(`-${id}.scope`) || name.endsWith(`-${id}`) || name.endsWith(`:${id}`)),
  )
}
