// CRI's lists and statuses to what decisions are made from (decide/observed.ts). Pure.

import {
  type Container,
  ContainerState,
  type ContainerStatus,
  type PodSandbox,
  PodSandboxState,
  type PodSandboxStatus,
} from '../../../cri-api/api.js'
import {
  newestFirst,
  type ObservedContainer,
  type ObservedPod,
  type ObservedResources,
  type ObservedSandbox,
  type ObservedState,
} from '../decide/observed.js'
import { annotations, labels } from '../to-cri/names.js'

const states: Readonly<Partial<Record<ContainerState, ObservedState>>> = {
  [ContainerState.CONTAINER_CREATED]: 'created',
  [ContainerState.CONTAINER_RUNNING]: 'running',
  [ContainerState.CONTAINER_EXITED]: 'exited',
}

/** The status is read once per state; the list shows when it has changed. */
export interface SeenContainer {
  readonly listed: Container
  readonly status: ContainerStatus
  readonly message: string
}

export interface SeenSandbox {
  readonly listed: PodSandbox
  /** Undefined for one that is not ready. */
  readonly status: PodSandboxStatus | undefined
}

export function observePod(
  uid: string,
  sandboxes: readonly SeenSandbox[],
  containers: readonly SeenContainer[],
): ObservedPod {
  const known = sandboxes[0]?.listed.labels ?? containers[0]?.listed.labels ?? {}
  const grace = containers[0]?.listed.annotations[annotations.gracePeriod]
  return {
    uid,
    name: known[labels.podName] ?? '',
    namespace: known[labels.podNamespace] ?? '',
    sandboxes: sandboxes.map(observeSandbox).sort(newestFirst),
    containers: containers.map(observeContainer).sort(newestFirst),
    graceSeconds: grace === undefined || !/^\d{1,9}$/.test(grace) ? undefined : Number(grace),
  }
}

function observeSandbox({ listed, status }: SeenSandbox): ObservedSandbox {
  const network = status?.network
  const ips = [network?.ip ?? '', ...(network?.additionalIps ?? []).map(({ ip }) => ip)]
  return {
    id: listed.id,
    attempt: listed.metadata?.attempt ?? 0,
    ready: listed.state === PodSandboxState.SANDBOX_READY,
    createdAtNanos: listed.createdAt,
    ips: ips.filter((ip) => ip !== ''),
  }
}

function observeContainer({ listed, status, message }: SeenContainer): ObservedContainer {
  const kind = listed.annotations[annotations.kind]
  return {
    id: listed.id,
    name: listed.labels[labels.containerName] ?? listed.metadata?.name ?? '',
    attempt: listed.metadata?.attempt ?? 0,
    sandboxId: listed.podSandboxId,
    state: states[status.state] ?? 'unknown',
    kind: kind === 'init' || kind === 'sidecar' || kind === 'ephemeral' ? kind : 'app',
    createdAtNanos: listed.createdAt,
    startedAtNanos: status.startedAt,
    finishedAtNanos: status.finishedAt,
    exitCode: status.exitCode,
    reason: status.reason,
    // What the container said itself counts more than what the runtime says about it.
    message: message === '' ? status.message : message,
    image: status.image?.userSpecifiedImage || (status.image?.image ?? ''),
    // What the API has called imageID since before there were two.
    imageId: status.imageRef === '' ? status.imageId : status.imageRef,
    logPath: status.logPath,
    recursiveReadOnly: status.mounts.filter((m) => m.recursiveReadOnly).map((m) => m.containerPath),
    hash: listed.annotations[annotations.hash] ?? '',
    user: status.user?.linux,
    resources: observeResources(status),
  }
}

function observeResources({ resources }: ContainerStatus): ObservedResources | undefined {
  const linux = resources?.linux
  if (linux === undefined) return undefined
  return {
    cpuShares: linux.cpuShares,
    cpuQuota: linux.cpuQuota,
    cpuPeriod: linux.cpuPeriod,
    memoryLimit: linux.memoryLimitInBytes,
    unified: linux.unified,
  }
}
