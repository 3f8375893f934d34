// The node step by step: CRI server, kubelet, pods, and the way back. Where it stands and what runs the processes is
// the caller's business.
import { asKeelsonError, fail } from '../core/errors.js'
import type { PodJson } from '../core/pod-document.js'
import { formatKubeletConfig, type KubeletSettings, type UpDirectories } from './kubelet-config.js'
import type { KubeletView, Part, UpPorts } from './ports.js'
import type { Progress } from './progress.js'
import { formatPods, type PodRow } from './table.js'

export interface Manifest {
  readonly file: string
  readonly text: string
}

export interface NodePlan {
  readonly directories: UpDirectories
  readonly settings: KubeletSettings
  readonly manifests: readonly Manifest[]
  /** How long the pods may take. */
  readonly readyMs: number
}

export interface UpNode {
  readonly view: KubeletView
  /** Rejects when a process of the node ends by itself. */
  readonly broken: Promise<never>
  stop(): Promise<void>
}

const pollMs = 300
/** Pods have two seconds to end by themselves. */
const endingMs = 10_000

export async function startNode(
  plan: NodePlan,
  ports: UpPorts,
  progress: Progress,
  signal: AbortSignal,
): Promise<UpNode> {
  const { directories } = plan
  const parts: Part[] = []
  const stop = async (): Promise<void> => {
    for (const part of parts.splice(0).reverse()) await part.stop()
  }
  try {
    parts.push(await ports.startCri())
    progress.step('cri server', `unix://${directories.criSocket}`)
    const config = formatKubeletConfig(directories, plan.settings)
    const file = `${directories.run}/kubelet.yaml`
    await ports.write(file, config)
    progress.step('configuration', file)
    progress.detail(config)
    parts.push(await ports.startKubelet(file))
    progress.step('kubelet', `healthy, https://127.0.0.1:${plan.settings.ports.kubelet}`)
    const view = await ports.kubelet()
    for (const { file: name, text } of plan.manifests) await ports.write(`${directories.pods}/${name}`, text)
    const broken = anyEnd(parts)
    await Promise.race([waitForPods(plan, ports, view, progress, signal), broken])
    return {
      view,
      broken,
      async stop() {
        await endPods(plan, ports, view)
        await stop()
      },
    }
  } catch (e) {
    await stop()
    throw e
  }
}

/** Listened to here, so that a process that ends later is no unhandled rejection. */
function anyEnd(parts: readonly Part[]): Promise<never> {
  const broken = Promise.race(parts.map((p) => p.ended)).then((why) => {
    throw fail('up.failed', why)
  })
  broken.catch(() => {})
  return broken
}

async function waitForPods(
  { manifests, readyMs }: NodePlan,
  ports: UpPorts,
  view: KubeletView,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const until = ports.nowMs() + readyMs
  const running = new Set<string>()
  for (;;) {
    const pods = await view.pods()
    for (const pod of pods)
      if (pod.status.phase === 'Running' && !running.has(pod.metadata.name)) {
        running.add(pod.metadata.name)
        progress.step('pod', `${pod.metadata.name} runs (${pod.status.qosClass})`)
      }
    if (running.size >= manifests.length) return
    if (ports.nowMs() > until)
      throw fail(
        'up.failed',
        `${running.size} of ${manifests.length} pods run after ${readyMs / 1000} s: ${troubles(pods)}`,
      )
    await ports.sleep(pollMs, signal)
  }
}

export function troubles(pods: readonly PodJson[]): string {
  const list = pods.flatMap((pod) =>
    pod.status.containerStatuses.flatMap(({ name, state }) =>
      state.waiting === undefined
        ? []
        : [
            `${pod.metadata.name}/${name}: ${state.waiting.reason ?? 'waiting'} ${state.waiting.message ?? ''}`.trim(),
          ],
    ),
  )
  return list.length === 0 ? 'no reason is known; look at the log of the kubelet' : list.join('; ')
}

/** The kubelet itself ends pods whose manifests go; what it does not manage is removed with the runtime. */
async function endPods({ directories }: NodePlan, ports: UpPorts, view: KubeletView): Promise<void> {
  const until = ports.nowMs() + endingMs
  await ports.clear(directories.pods)
  try {
    while ((await view.pods()).length > 0 && ports.nowMs() < until)
      await ports.sleep(pollMs, new AbortController().signal)
  } catch (e) {
    // A kubelet that is gone has no pods to end.
    if (asKeelsonError(e).code === 'internal.unexpected') throw e
  }
}

export async function podTable(view: KubeletView, ports: Pick<UpPorts, 'memory'>): Promise<string> {
  const rows = (await view.pods()).map((pod): PodRow => {
    const id = pod.status.containerStatuses[0]?.containerID?.replace(/^.*:\/\//, '')
    const values = id === undefined ? undefined : ports.memory(id)
    return {
      pod: pod.metadata.name,
      qosClass: pod.status.qosClass,
      phase: pod.status.phase,
      min: values?.min ?? '-',
      high: values?.high ?? '-',
      current: values?.current ?? '-',
    }
  })
  return formatPods(rows)
}
