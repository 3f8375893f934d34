// The kubelet of a cell: its configuration and its process.
import type { ChildProcess } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { driverOf, insideDirectory } from '../node-environment/plan.js'
import type { CellPlan } from './cell-plan.js'
import { directEndpoint, startProcess } from './node.js'

const directory = join(insideDirectory, 'kubelet')
export const manifests = join(directory, 'manifests')
export const throttlingFactor = 0.9

const gates = {
  PodAndContainerStatsFromCRI: true,
  EventedPLEG: true,
  CRIListStreaming: true,
  MemoryQoS: true,
} as const

/** Only RuntimeConfig can tell a kubelet the driver: where it exists, the configured one is wrong on purpose. */
export const tellsDriver = ({ runtime }: CellPlan, isThrough: boolean): boolean =>
  isThrough || runtime === 'containerd-2' || runtime === 'cri-o'

/** `between`: the socket that it is given instead of the runtime's own. */
export async function startKubelet(
  plan: CellPlan,
  between: string | undefined,
  others: Readonly<Record<string, boolean>> = {},
): Promise<ChildProcess> {
  for (const path of [manifests, join(directory, 'logs')]) await mkdir(path, { recursive: true })
  const right = driverOf(plan.place)
  const wrong = right === 'systemd' ? 'cgroupfs' : 'systemd'
  const config = join(directory, 'kubelet.yaml')
  await writeFile(
    config,
    stringify({
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      staticPodPath: manifests,
      podLogsDir: join(directory, 'logs'),
      containerRuntimeEndpoint: between ?? directEndpoint(plan.runtime),
      cgroupDriver: tellsDriver(plan, between !== undefined) ? wrong : right,
      failCgroupV1: false,
      failSwapOn: false,
      fileCheckFrequency: '1s',
      authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
      authorization: { mode: 'AlwaysAllow' },
      evictionHard: { 'memory.available': '50Mi' },
      featureGates: { ...gates, ...others },
      memoryThrottlingFactor: throttlingFactor,
      resolvConf: '/etc/resolv.conf',
    }),
  )
  // The default root directory: in a lab machine the upstream kubelet does not know the file system of this one.
  const flags = [`--config=${config}`, '--hostname-override=node-1']
  const ours = [process.execPath, plan.programs.keelson, 'kubelet', ...flags]
  return startProcess(
    'kubelet',
    plan.client === 'upstream kubelet'
      ? [plan.programs.kubelet, ...flags, '--v=2']
      : [...ours, '--profile=upstream', '--kubernetes-version=1.37.1'],
  )
}
