// Rules that need more than one field or a feature gate. Each says which field to change; all of them are run.

import { type MemoryQosRules, validateMemoryQosFields } from '../core/memory-qos/config.js'
import { isGateEnabled } from '../core/release/gates.js'
import type { Problem } from '../core/units/problem.js'
import { type EffectiveConfig, isCgroupDriver } from './effective.js'

/** Reasons not to start, without their origins: the caller knows where each path was set. */
export function validate(config: EffectiveConfig): readonly Problem[] {
  return [...memoryQosProblems(config), ...rules.flatMap((rule) => rule(config))]
}

type Rule = (config: EffectiveConfig) => readonly Problem[]

const problem = (path: string, message: string, remedy: string): Problem => ({ path, message, remedy })

export function memoryQosInputs({ memoryQos }: Pick<EffectiveConfig, 'memoryQos'>): MemoryQosRules {
  const { rules, enabled } = memoryQos
  // 0.9 was every release's default once, and saved files have it. So does the default of the release itself.
  const savedFactors = [0.9, ...(rules.defaultFactor === undefined ? [] : [rules.defaultFactor])]
  return { gate: enabled, defaultFactor: rules.defaultFactor, savedFactors, policies: rules.policies }
}

function memoryQosProblems(config: EffectiveConfig): readonly Problem[] {
  const { kubelet } = config
  return validateMemoryQosFields(kubelet, memoryQosInputs(config))
}

const rules: readonly Rule[] = [
  /** Without the runtime's word the configured one decides, so it has to be one. */
  function cgroupDriver({ cgroupDriver: { configured }, gates }) {
    if (isCgroupDriver(configured) || isGateEnabled(gates, 'KubeletCgroupDriverFromCRI')) return []
    const message = `${JSON.stringify(configured.slice(0, 80))} is not a cgroup driver, and the runtime is not queried`
    return [problem('cgroupDriver', message, 'use cgroupfs or systemd')]
  },
  function cfsPeriod({ kubelet, gates }) {
    if (kubelet.cpuCFSQuotaPeriod === 100 || isGateEnabled(gates, 'CustomCPUCFSQuotaPeriod')) return []
    const message = 'other than 100ms needs the feature gate CustomCPUCFSQuotaPeriod'
    return [problem('cpuCFSQuotaPeriod', message, 'set the gate to true or remove the field')]
  },
  function swap({ kubelet, gates }) {
    if (kubelet.memorySwap.swapBehavior === 'NoSwap' || isGateEnabled(gates, 'NodeSwap')) return []
    const message = 'needs the feature gate NodeSwap'
    return [problem('memorySwap.swapBehavior', message, 'set the gate to true or use NoSwap')]
  },
  function cgroupOfTheSystem({ kubelet: { systemCgroups, cgroupRoot } }) {
    if (systemCgroups === undefined) return []
    if (systemCgroups === '/')
      return [problem('systemCgroups', 'is the root cgroup', 'use a cgroup below it, for example /system')]
    const remedy = 'set cgroupRoot, for example to /'
    return cgroupRoot === undefined ? [problem('systemCgroups', 'needs cgroupRoot', remedy)] : []
  },
  function parallelPulls({ kubelet }) {
    if (!kubelet.serializeImagePulls || (kubelet.maxParallelImagePulls ?? 1) === 1) return []
    return [
      problem(
        'maxParallelImagePulls',
        'needs serializeImagePulls: false',
        'set serializeImagePulls to false',
      ),
    ]
  },
  function certificatePair({ kubelet: { tlsCertFile, tlsPrivateKeyFile } }) {
    if ((tlsCertFile === undefined) === (tlsPrivateKeyFile === undefined)) return []
    const [set, missing] =
      tlsCertFile === undefined ? ['tlsPrivateKeyFile', 'tlsCertFile'] : ['tlsCertFile', 'tlsPrivateKeyFile']
    return [problem(set, `is set without ${missing}`, `set ${missing} too`)]
  },
  function samePorts({ kubelet }) {
    const taken = new Map<number, string>()
    return (['port', 'readOnlyPort', 'healthzPort'] as const).flatMap((name) => {
      const number = kubelet[name]
      const first = taken.get(number)
      taken.set(number, name)
      return number === 0 || first === undefined
        ? []
        : [problem(name, `${number} is also ${first}`, 'use a different port for each server')]
    })
  },
  function imageThresholds({
    kubelet: { imageGCLowThresholdPercent: low, imageGCHighThresholdPercent: high },
  }) {
    if (low < high) return []
    const message = `${low} is not less than imageGCHighThresholdPercent ${high}`
    return [problem('imageGCLowThresholdPercent', message, 'use a lower value than the high threshold')]
  },
  function imageAges({ kubelet: { imageMaximumGCAge: most, imageMinimumGCAge: least }, gates }) {
    if (most === 0) return []
    if (!isGateEnabled(gates, 'ImageMaximumGCAge'))
      return [
        problem('imageMaximumGCAge', 'needs the feature gate ImageMaximumGCAge', 'set the gate to true'),
      ]
    const remedy = 'use a longer time than imageMinimumGCAge'
    return most > least ? [] : [problem('imageMaximumGCAge', 'is not longer than imageMinimumGCAge', remedy)]
  },
  function softGracePeriods({ kubelet: { evictionSoft, evictionSoftGracePeriod } }) {
    return Object.keys(evictionSoft)
      .filter((signal) => evictionSoftGracePeriod[signal] === undefined)
      .map((signal) =>
        problem(
          'evictionSoft',
          `${signal} has no grace period`,
          `set evictionSoftGracePeriod["${signal}"], for example to 1m30s`,
        ),
      )
  },
  function shutdownGrace({ kubelet }) {
    const { shutdownGracePeriod: all, shutdownGracePeriodCriticalPods: critical } = kubelet
    const tooShort = (ms: number): boolean => ms > 0 && ms < 1000
    return [
      ...(critical <= all
        ? []
        : [
            problem(
              'shutdownGracePeriodCriticalPods',
              'is longer than shutdownGracePeriod, which it is a part of',
              'use a shorter time',
            ),
          ]),
      ...(tooShort(all)
        ? [problem('shutdownGracePeriod', 'is shorter than 1s', 'use 0s, or 1s or more')]
        : []),
      ...(tooShort(critical)
        ? [problem('shutdownGracePeriodCriticalPods', 'is shorter than 1s', 'use 0s, or 1s or more')]
        : []),
      ...(kubelet.shutdownGracePeriodByPodPriority.length > 0 && (all > 0 || critical > 0)
        ? [
            problem(
              'shutdownGracePeriodByPodPriority',
              'cannot be combined with shutdownGracePeriod and shutdownGracePeriodCriticalPods',
              'use one of the two',
            ),
          ]
        : []),
    ]
  },
]
