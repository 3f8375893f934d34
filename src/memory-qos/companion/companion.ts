// Memory QoS beside another kubelet, for the life of the process: follow the pods, keep the values, and roll back. Writes
// nothing before the values that it finds are on disk.
import { asKeelsonError, keelsonError } from '../../core/errors.js'
import type { TargetsInput } from '../../core/memory-qos/targets.js'
import { pause } from '../../core/units/retry.js'
import type { CgroupTree } from '../../ports/cgroups.js'
import type { PodSource } from '../../ports/pod-source.js'
import type { RuntimeService } from '../../ports/runtime.js'
import type { KubeletSettings } from '../decide/kubelet-settings.js'
import type { FoundValues } from '../found-values.js'
import { createMemoryQos, type MemoryQos, type MemoryQosOptions } from '../memory-qos.js'
import { takeBack } from '../take-back.js'
import { createPodList } from './pod-list.js'

interface CompanionOptions
  extends Pick<
    MemoryQosOptions,
    | 'cgroups'
    | 'runtime'
    | 'clock'
    | 'log'
    | 'metrics'
    | 'event'
    | 'timeoutMs'
    | 'signal'
    | 'kernelMessage'
    | 'recursiveProtection'
    | 'periodMs'
    | 'watchMs'
    | 'findKubelet'
  > {
  readonly source: PodSource
  readonly found: FoundValues
  readonly settings: KubeletSettings
  /** Asks the kubelet again: it may have been restarted with other reservations. Undefined: a file, read once. */
  readonly askSettings?: (signal: AbortSignal) => Promise<KubeletSettings>
  readonly input: (settings: KubeletSettings) => Omit<TargetsInput, 'pods'>
}

const settingsPeriodMs = 300_000

interface Companion {
  readonly memoryQos: MemoryQos
  run(): Promise<void>
}

export function createCompanion(options: CompanionOptions): Companion {
  const { askSettings, clock, log, signal, source } = options
  let input = options.input(options.settings)
  if (options.settings.memoryQosGate)
    log.warn("the kubelet's own MemoryQoS gate is on: both write the same files", {
      remedy: 'run either the companion or the gate',
    })
  const memoryQos = createMemoryQos({
    ...options,
    ownsOtherFiles: () => false,
    node: () => input,
    pods: createPodList(source, log),
  })

  async function followSettings(): Promise<void> {
    if (askSettings === undefined) return
    while (!signal.aborted) {
      await pause(clock, settingsPeriodMs, signal)
      if (signal.aborted) return
      try {
        input = options.input(await askSettings(signal))
      } catch (e) {
        if (!signal.aborted)
          log.warn("failed to read the kubelet's settings; keeping the last ones", {
            error: asKeelsonError(e),
          })
      }
    }
  }

  return {
    memoryQos,
    async run() {
      await Promise.all([source.follow(() => memoryQos.notify(), signal), followSettings(), memoryQos.run()])
    },
  }
}

interface RollbackOptions {
  readonly cgroups: CgroupTree
  readonly runtime: Pick<RuntimeService, 'updateContainerResources'>
  readonly found: FoundValues
  readonly pageSize: bigint
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** Every noted value back, then the notes go. Can be repeated until it succeeds. */
export async function rollBack(o: RollbackOptions): Promise<{ cgroups: number; files: number }> {
  const all = o.found.cgroups.size
  const { settled, writes, findings } = await takeBack(o, new Map(o.found.cgroups))
  if (settled.length < all || findings.length > 0) {
    await o.found.forget(settled)
    const [first] = findings
    throw keelsonError(
      'companion.rollback',
      `${all - settled.length} of ${all} cgroups were not restored to their original values${first === undefined ? '' : `: ${first.subject}: ${first.message}`}; run the rollback again`,
      { left: all - settled.length },
    )
  }
  await o.found.clear()
  return { cgroups: all, files: writes }
}
