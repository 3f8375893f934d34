// The node step by step: CRI server, kubelet, pods, and removing them. The caller chooses the place and runs the processes.
import { keelsonError, rethrowBug } from '../core/errors.js'
import type { PodJson } from '../core/pod/document.js'
import { formatKubeletConfig, type KubeletSettings, type UpDirectories } from './kubelet-config.js'
import { type ImagePlace, judgePod } from './pod-state.js'
import type { Progress } from './progress.js'
import { formatPods, type PodRow } from './table.js'
import type { KubeletView, Part, UpPorts } from './up-ports.js'

export interface PodName {
  readonly namespace: string
  /** Without the node's name, which the kubelet puts at its end. */
  readonly name: string
}

export interface Manifest {
  readonly file: string
  readonly text: string
  /** What the kubelet finds in it; nothing where it refuses the file. */
  readonly pods: readonly PodName[]
  /** Why the kubelet refuses it, a line each; empty: it does not. */
  readonly problems: readonly string[]
}

export interface NodePlan {
  readonly directories: UpDirectories
  readonly settings: KubeletSettings
  readonly manifests: readonly Manifest[]
  /** How long the pods may take. */
  readonly readyMs: number
  readonly place: ImagePlace
  /** The kubelet's address as a person opens it from where they are. */
  readonly url: string
  /** The node is in a lab machine: its paths and ports are not those of the host. */
  readonly inside: boolean
  /** Where the processes write their logs, as the person sees it. */
  readonly logDir: string
}

export interface UpNode {
  readonly view: KubeletView
  readonly running: number
  /** A line for each pod or manifest that does not run. */
  readonly troubles: readonly string[]
  /** Rejects when a process of the node ends by itself. */
  readonly broken: Promise<never>
  stop(): Promise<void>
}

const pollMs = 300
/** It looks into its directory every two seconds. */
const unseenMs = 30_000
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
    const inside = plan.inside ? ' (inside the machine)' : ''
    progress.step('cri server', `unix://${directories.criSocket}${inside}`)
    const config = formatKubeletConfig(directories, plan.settings)
    const file = `${directories.run}/kubelet.yaml`
    await ports.write(file, config)
    progress.step('configuration', `${file}${inside}`)
    progress.detail(config)
    parts.push(await ports.startKubelet(file))
    const port = plan.inside ? ` (port ${plan.settings.ports.kubelet} inside the machine)` : ''
    progress.step('kubelet', `healthy, ${plan.url}${port}`)
    const view = await ports.kubelet()
    for (const { file: name, text } of plan.manifests) await ports.write(`${directories.pods}/${name}`, text)
    const broken = anyEnd(parts)
    const { running, troubles } = await Promise.race([
      waitForPods(plan, ports, view, progress, signal),
      broken,
    ])
    return {
      view,
      running,
      troubles: [...plan.manifests.flatMap(refusal), ...troubles],
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
    throw keelsonError('up.failed', why)
  })
  broken.catch(() => {})
  return broken
}

const refusal = ({ file, problems }: Manifest): string[] =>
  problems.length === 0 ? [] : [`${file}: refused by the kubelet; see above`]

const podOf = (pods: readonly PodJson[], { namespace, name }: PodName): PodJson | undefined =>
  pods.find(
    ({ metadata, spec }) =>
      metadata.namespace === namespace && metadata.name === `${name}-${String(spec['nodeName'])}`,
  )

interface Waited {
  readonly running: number
  readonly troubles: readonly string[]
}

/** Until each pod runs or has said why not. A failing pod is reported at once and does not stop the node. */
async function waitForPods(
  { manifests, readyMs, place, logDir }: NodePlan,
  ports: UpPorts,
  view: KubeletView,
  progress: Progress,
  signal: AbortSignal,
): Promise<Waited> {
  const started = ports.nowMs()
  const troubles: string[] = []
  let running = 0
  let waiting = manifests.flatMap((m) => m.pods)
  const tell = (name: string, what: string, remedy: readonly string[]): void => {
    troubles.push(`${name}: ${what}`)
    progress.step('pod', `${name} is not running: ${what}`)
    if (remedy.length > 0) progress.detail(remedy.join('\n'))
  }
  for (;;) {
    const pods = await view.pods()
    const elapsed = ports.nowMs() - started
    waiting = waiting.filter((wanted) => {
      const pod = podOf(pods, wanted)
      const state = pod === undefined ? undefined : judgePod(pod, place)
      if (pod !== undefined && state?.kind === 'running') {
        running += 1
        progress.step('pod', `${pod.metadata.name} is running (${pod.status.qosClass})`)
        return false
      }
      const name = pod?.metadata.name ?? wanted.name
      if (state?.kind === 'trouble') tell(name, state.what, state.remedy)
      else if (pod === undefined && elapsed > unseenMs)
        tell(name, 'the kubelet has not accepted it', [`see its log: ${logDir}/kubelet.log`])
      else if (elapsed > readyMs)
        tell(name, `not ready after ${readyMs / 1000} s`, [`see the logs in ${logDir}`])
      else return true
      return false
    })
    if (waiting.length === 0) return { running, troubles }
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
  return list.length === 0 ? 'unknown reason; check the log of the kubelet' : list.join('; ')
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
    rethrowBug(e)
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
