// The machine-readable form of an explanation. File contents are text, as the kernel takes them, so no number
// loses digits on its way through a JSON reader.

import type { MemoryQosSettings } from '../../core/memory-qos/settings.js'
import type { ExplainedCgroup, Explanation } from '../../core/plan/explain.js'

export interface ExplainHeader {
  readonly kubernetesVersion: string
  readonly profile: string
  readonly memoryQos: MemoryQosSettings
  readonly memoryCapacity: bigint | undefined
  readonly allocatableMemory: bigint | undefined
  readonly pageSize: bigint
  readonly notes: readonly string[]
}

interface ReportFile {
  /** Null: not written. */
  readonly value: string | null
  readonly code: string
  readonly reason: string
  readonly formula?: string
}

interface ReportCgroup {
  readonly title: string
  readonly cgroup: { readonly cgroupfs: string; readonly systemd: string }
  readonly files: Readonly<Record<string, ReportFile>>
}

export function toReport(header: ExplainHeader, explanation: Explanation) {
  return {
    apiVersion: 'keelson.dev/v1alpha1',
    kind: 'Explanation',
    kubernetesVersion: header.kubernetesVersion,
    profile: header.profile,
    memoryQos: {
      enabled: header.memoryQos.enabled,
      formula: header.memoryQos.generation,
      memoryThrottlingFactor: header.memoryQos.factor ?? null,
      memoryReservationPolicy: header.memoryQos.policy,
    },
    node: {
      memoryCapacity: header.memoryCapacity?.toString() ?? null,
      allocatableMemory: header.allocatableMemory?.toString() ?? null,
      pageSize: header.pageSize.toString(),
    },
    notes: header.notes,
    pods: explanation.pods.map((pod) => ({
      namespace: pod.namespace,
      name: pod.name,
      from: pod.origin,
      qosClass: pod.qosClass,
      containers: pod.containers.map(reportCgroup),
      pod: reportCgroup(pod.pod),
    })),
    ancestors: explanation.ancestors.map(reportCgroup),
  }
}

const reportCgroup = (cgroup: ExplainedCgroup): ReportCgroup => ({
  title: cgroup.title,
  cgroup: cgroup.paths,
  files: Object.fromEntries(
    cgroup.files.map(({ file, outcome }) => [
      file,
      {
        value: outcome.kind === 'value' ? outcome.value.toString() : null,
        code: outcome.code,
        reason: outcome.reason,
        ...(outcome.formula === undefined ? {} : { formula: outcome.formula }),
      },
    ]),
  ),
})
