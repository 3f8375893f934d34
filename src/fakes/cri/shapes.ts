// Answers with shapes that are easy to get wrong: absent against empty, numbers of the future, Windows and
// VM-based pods, very long lists. Values are made up but plausible.
import type {
  Container,
  ContainerStats,
  DeepPartial,
  ListPodSandboxStatsResponse,
  PodSandboxStats,
  RuntimeConfigResponse,
  StatusResponse,
} from '../../cri-api/api.js'
import { CgroupDriver, ContainerState } from '../../cri-api/api.js'
import type { Said } from './answers.js'

type Config = Said<RuntimeConfigResponse>

/** KEP-4033: every way to answer RuntimeConfig. */
export const runtimeConfig = {
  systemd: { value: { linux: { cgroupDriver: CgroupDriver.SYSTEMD } } },
  cgroupfs: { value: { linux: { cgroupDriver: CgroupDriver.CGROUPFS } } },
  /** `linux` set with nothing inside: on the wire the same as systemd. */
  emptyLinux: { value: { linux: {} } },
  absentLinux: { value: {} },
  unknownDriver: (number: number): Config => ({ value: { linux: { cgroupDriver: number } } }),
} as const satisfies Record<string, Config | ((n: number) => Config)>

/** Field 1000 as text: what a newer runtime might add to any message. */
export const unknownField = Buffer.concat([Buffer.from([0xc2, 0x3e, 5]), Buffer.from('later')])

const hexId = (prefix: string, n: number): string => prefix + n.toString(16).padStart(64 - prefix.length, '0')

export const manyContainers = (count: number): DeepPartial<Container>[] =>
  Array.from({ length: count }, (_, i) => ({
    id: hexId('c', i),
    podSandboxId: hexId('a', i >> 1),
    metadata: { name: `app-${i}`, attempt: 0 },
    image: { image: 'registry.example/app:1' },
    imageRef: 'sha256:0123',
    state: ContainerState.CONTAINER_RUNNING,
    createdAt: 1_700_000_000_000_000_000n + BigInt(i),
    labels: { 'io.kubernetes.pod.name': `pod-${i >> 1}`, 'io.kubernetes.pod.namespace': 'default' },
  }))

const attributes = (id: string, name: string): DeepPartial<NonNullable<PodSandboxStats['attributes']>> => ({
  id,
  metadata: { name, uid: `${name}-uid`, namespace: 'default', attempt: 0 },
  labels: { 'io.kubernetes.pod.name': name },
})

/** A pod as containerd on Windows describes it: no `linux`, dropped packets instead of errors, no inodes. */
export const windowsPodStats = (name: string, timestamp: bigint): DeepPartial<PodSandboxStats> => ({
  attributes: attributes(hexId('a', 1), name),
  windows: {
    cpu: {
      timestamp,
      usageCoreNanoSeconds: { value: 4_200_000_000n },
      usageNanoCores: { value: 42_000_000n },
    },
    memory: {
      timestamp,
      workingSetBytes: { value: 50_000_000n },
      availableBytes: { value: 150_000_000n },
      pageFaults: { value: 0n },
      commitMemoryBytes: { value: 60_000_000n },
    },
    network: {
      timestamp,
      defaultInterface: {
        name: 'endpoint-1',
        rxBytes: { value: 1000n },
        rxPacketsDropped: { value: 1n },
        txBytes: { value: 2000n },
        txPacketsDropped: { value: 2n },
      },
    },
    process: { timestamp, processCount: { value: 7n } },
    containers: [
      {
        attributes: { id: hexId('c', 1), metadata: { name: 'app', attempt: 0 } },
        cpu: { timestamp, usageCoreNanoSeconds: { value: 4_000_000_000n } },
        memory: {
          timestamp,
          workingSetBytes: { value: 48_000_000n },
          commitMemoryBytes: { value: 58_000_000n },
        },
        writableLayer: {
          timestamp,
          fsId: { mountpoint: 'C:\\ProgramData' },
          usedBytes: { value: 9_000_000n },
        },
      },
    ],
  },
})

/** The name of the handler that vmPodStats and vmStatus speak of. */
export const vmHandler = 'kata'

const vmContainer = (timestamp: bigint): DeepPartial<ContainerStats> => ({
  attributes: { id: hexId('c', 2), metadata: { name: 'app', attempt: 0 } },
  cpu: { timestamp, usageCoreNanoSeconds: { value: 9_000_000_000n } },
  memory: { timestamp, workingSetBytes: { value: 70_000_000n }, usageBytes: { value: 90_000_000n } },
})

/** A pod in a virtual machine: the guest's values, which the host's cgroups cannot show; no network, no PSI. */
export const vmPodStats = (name: string, timestamp: bigint): DeepPartial<PodSandboxStats> => ({
  attributes: attributes(hexId('a', 2), name),
  linux: {
    cpu: { timestamp, usageCoreNanoSeconds: { value: 9_500_000_000n } },
    memory: { timestamp, workingSetBytes: { value: 120_000_000n } },
    process: { timestamp, processCount: { value: 3n } },
    containers: [vmContainer(timestamp)],
  },
})

/** Two handlers, one of them VM-based, in the verbose form of containerd. */
export const vmStatus: DeepPartial<StatusResponse> = {
  status: {
    conditions: [
      { type: 'RuntimeReady', status: true },
      { type: 'NetworkReady', status: true },
    ],
  },
  runtimeHandlers: [
    { name: 'runc', features: { recursiveReadOnlyMounts: true, userNamespaces: true } },
    { name: vmHandler, features: {} },
  ],
  info: {
    config: JSON.stringify({
      containerd: {
        defaultRuntimeName: 'runc',
        runtimes: {
          runc: { runtimeType: 'io.containerd.runc.v2', options: { SystemdCgroup: true } },
          [vmHandler]: { runtimeType: 'io.containerd.kata.v2' },
        },
      },
    }),
  },
}

export const podStatsList = (
  ...stats: readonly DeepPartial<PodSandboxStats>[]
): Said<ListPodSandboxStatsResponse> => ({ value: { stats: [...stats] } })
