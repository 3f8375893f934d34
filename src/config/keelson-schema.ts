// KeelsonConfiguration keelson.dev/v1alpha1: the settings that upstream has no place for, kept in a file of their
// own so that KubeletConfiguration still feeds an upstream kubelet unchanged.

import { valuesModes } from '../core/cri/values-mode.js'
import { reservationPolicies } from '../core/memory-qos/settings.js'
import { profiles } from '../core/release/gate-table.js'
import { type SelectableStage, selectableStages } from '../core/release/gates.js'
import { defaultVersion, formatVersion } from '../core/release/version.js'
import { fieldOf, group, type Infer, read, refuse } from './field.js'
import { choice, duration, factor, flag, mapOf, portOrOff, text, textList } from './field-kinds.js'
import { describeJson } from './parse-yaml.js'

export const keelsonApiVersion = 'keelson.dev/v1alpha1'
export const keelsonKind = 'KeelsonConfiguration'
export const defaultKeelsonConfigPath = '/etc/keelson/config.yaml'

const stageMap = mapOf<SelectableStage>('map of stages', (_, value) => {
  const stage = selectableStages.find((s) => s === value)
  return stage === undefined
    ? refuse(`${describeJson(value)} is not a stage`, `use ${selectableStages.join(', ')}`)
    : read(stage)
})

/** Without quotes YAML reads a number and drops its zero; in the supported range 1.3 can only be 1.30. */
const versionText = fieldOf<string>('string', (value) => {
  if (typeof value === 'string') return read(value)
  if (typeof value === 'number') return read(/^1\.\d$/.test(String(value)) ? `${value}0` : String(value))
  return refuse(`must be a version, not ${describeJson(value)}`, 'use for example "1.36"')
})

const SECOND = 1_000_000_000n

export const keelsonSchema = {
  kubernetesVersion: versionText('release whose rules apply, `1.36` or `v1.36.2`', {
    zeroIsUnset: true,
    default: formatVersion(defaultVersion),
  }),
  profile: choice(...profiles)('rules to follow where the KEPs and the releases differ', {
    zeroIsUnset: true,
    default: 'kep',
  }),
  stages: stageMap('stage of each feature gate: `{MemoryQoS: beta}`', { default: {} }),
  strict: flag('treat unknown keys and unsupported settings as errors', { default: false }),
  ports: group('HTTPS ports of the other processes; for the kubelet use `port`', {
    companion: portOrOff('`keelson companion`; 0: off', { default: 10251 }),
    cri: portOrOff('metrics of `keelson cri`; 0: off', { default: 10252 }),
  }),
  criServer: group(
    'the server of `keelson cri` inside the kubelet: one process for both; see docs/cri-server.md',
    {
      listen: text('CRI socket to listen on, as `unix:///run/keelson/cri.sock`; unset: no server', {
        zeroIsUnset: true,
      }),
      values: choice(...valuesModes)('as `--values` of `keelson cri`', {
        zeroIsUnset: true,
        default: 'repair',
      }),
    },
  ),
  companion: group('Memory QoS beside another kubelet: running `keelson companion` is the opt-in', {
    memoryThrottlingFactor: factor(
      'position of memory.high between request (0) and limit (1); null: no memory.high',
      {
        nullIsValue: true,
        default: 0.9,
      },
    ),
    memoryReservationPolicy: choice(...reservationPolicies)('memory that memory.min and memory.low protect', {
      zeroIsUnset: true,
      default: 'None',
    }),
  }),
  metrics: group('content of `/metrics/cadvisor` of kubelet and companion; see docs/metrics.md', {
    period: duration(SECOND, 600n * SECOND)('time between two samples', {
      zeroIsUnset: true,
      default: '10s',
    }),
    disable: textList('families to omit', { default: [] }),
    enable: textList('families that are off by default: `container_tasks_state`', { default: [] }),
    rows: group('additional rows', {
      pods: flag('the row of each pod, except its network', { default: true }),
      slices: flag('kubepods and the cgroups of QoS classes', { default: true }),
      node: flag('the node as a whole, `id="/"`', { default: true }),
    }),
  }),
  staticPodResize: choice('Recreate', 'InPlace')(
    'how a change of only cpu and memory is applied to a running static pod',
    {
      zeroIsUnset: true,
      default: 'Recreate',
    },
  ),
  evictStaticPods: flag(
    'static pods may be evicted when the node is short of resources, except critical ones; upstream never does',
    { default: false },
  ),
  removedFlagPolicy: choice('ignore', 'reject')('effect of `--cgroup-driver` in releases that removed it', {
    zeroIsUnset: true,
    default: 'ignore',
  }),
}

export type KeelsonConfig = Infer<typeof keelsonSchema>
