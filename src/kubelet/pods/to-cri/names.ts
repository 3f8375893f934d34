// The names by which pods are known outside: CRI labels and annotations, log paths and directories, all the kubelet's
// own, so that crictl, log shippers and every CRI-aware tool find what they know.
import type { ContainerSpec, PodSpec } from '../../../core/pod/spec/spec.js'
import { containerHash } from '../decide/container-hash.js'

export const labels = {
  podName: 'io.kubernetes.pod.name',
  podNamespace: 'io.kubernetes.pod.namespace',
  podUid: 'io.kubernetes.pod.uid',
  containerName: 'io.kubernetes.container.name',
} as const

export const annotations = {
  hash: 'io.kubernetes.container.hash',
  restartCount: 'io.kubernetes.container.restartCount',
  messagePath: 'io.kubernetes.container.terminationMessagePath',
  messagePolicy: 'io.kubernetes.container.terminationMessagePolicy',
  ports: 'io.kubernetes.container.ports',
  gracePeriod: 'io.kubernetes.pod.terminationGracePeriod',
  /** Ours: `init`, `sidecar`, `app` or `ephemeral`, so that sidecars end last even when the manifest has gone. */
  kind: 'keelson.dev/container-kind',
} as const

export interface PodPaths {
  /** --root-dir */
  readonly rootDir: string
  readonly podLogsDir: string
}

type PodName = Pick<PodSpec['pod'], 'name' | 'namespace' | 'uid'>

export const podsDirectory = ({ rootDir }: PodPaths): string => `${rootDir}/pods`

export const podDirectory = (paths: PodPaths, uid: string): string => `${podsDirectory(paths)}/${uid}`

/** One file for each pod of which this kubelet has created anything that is not removed yet. */
export const podRecords = ({ rootDir }: PodPaths): string => `${rootDir}/keelson-pods`

/** `/var/log/pods/default_web-node1_0123` */
export const podLogDirectory = ({ podLogsDir }: PodPaths, { namespace, name, uid }: PodName): string =>
  `${podLogsDir}/${namespace}_${name}_${uid}`

export const containerLogName = (attempt: number): string => `${attempt}.log`

/** Below the pod's log directory: `app/0.log`. */
export const containerLogPath = (container: string, attempt: number): string =>
  `${container}/${containerLogName(attempt)}`

/** Beside the pods' directory, where log shippers have looked since before CRI: `/var/log/containers`. */
export const logLinksDirectory = ({ podLogsDir }: PodPaths): string =>
  `${podLogsDir.slice(0, podLogsDir.lastIndexOf('/'))}/containers`

/** File names end at 255 bytes; upstream cuts the part before the id. */
export function logLinkName({ namespace, name }: PodName, container: string, id: string): string {
  const suffix = `-${id}.log`
  return `${`${name}_${namespace}_${container}`.slice(0, 255 - suffix.length)}${suffix}`
}

/** With what the name of each link of the pod begins, whatever was cut. */
export const logLinkStart = ({ namespace, name }: PodName): string => `${name}_${namespace}_`.slice(0, 128)

export const emptyDirPath = (paths: PodPaths, uid: string, volume: string): string =>
  `${podDirectory(paths, uid)}/volumes/kubernetes.io~empty-dir/${volume}`

export const hostsFile = (paths: PodPaths, uid: string): string => `${podDirectory(paths, uid)}/etc-hosts`

export const terminationLog = (paths: PodPaths, uid: string, container: string, attempt: number): string =>
  `${podDirectory(paths, uid)}/containers/${container}/${attempt}`

export const podLabels = ({ pod, labels: own }: PodSpec): Record<string, string> => ({
  ...Object.fromEntries(own),
  [labels.podName]: pod.name,
  [labels.podNamespace]: pod.namespace,
  [labels.podUid]: pod.uid,
})

export const containerLabels = ({ pod }: PodSpec, container: ContainerSpec): Record<string, string> => ({
  [labels.containerName]: container.name,
  [labels.podName]: pod.name,
  [labels.podNamespace]: pod.namespace,
  [labels.podUid]: pod.uid,
})

export const containerAnnotations = (
  spec: PodSpec,
  container: ContainerSpec,
  attempt: number,
): Record<string, string> => ({
  [annotations.hash]: containerHash(container),
  [annotations.restartCount]: String(attempt),
  [annotations.messagePath]: container.terminationMessagePath,
  [annotations.messagePolicy]: container.terminationMessagePolicy,
  [annotations.gracePeriod]: String(spec.terminationGracePeriodSeconds),
  [annotations.kind]: container.kind,
  ...(container.ports.length === 0 ? {} : { [annotations.ports]: JSON.stringify(container.ports) }),
})
