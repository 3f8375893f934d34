// `keelson up --demo pressure`: the same workloads on the same small node, with Memory QoS off and then on. Every value is
// read from the kernel while it happens.
import { keelsonError } from '../core/errors.js'
import type { PodJson } from '../core/pod/document.js'
import { type NodePlan, startNode, troubles, type UpNode } from './node.js'
import { cacheMiB, cachePod, hogPod, noisePod } from './pressure-pods.js'
import {
  formatComparison,
  formatHeader,
  formatSample,
  type PhaseResult,
  type PressureSample,
} from './pressure-table.js'
import type { Progress } from './progress.js'
import type { MemoryValues, PodValues, UpPorts } from './up-ports.js'

interface PressurePlan {
  readonly node: NodePlan
  /** A directory on a disk. */
  readonly data: string
  readonly write: (text: string) => void
}

const warmShare = 0.95
const warmMs = 90_000
const sampleMs = 2_000
/** Long enough for the hog to meet its limit a few times; ended early only when the node was full before. */
const leastS = 24
const mostS = 150

export async function runPressure(
  plan: PressurePlan,
  ports: UpPorts,
  progress: Progress,
  signal: AbortSignal,
): Promise<{ readonly off: PhaseResult; readonly on: PhaseResult }> {
  const off = await runPhase(plan, false, undefined, ports, progress, signal)
  const on = await runPhase(plan, true, off, ports, progress, signal)
  plan.write(`\n${formatComparison(off, on)}\n`)
  return { off, on }
}

async function runPhase(
  { node: base, data, write }: PressurePlan,
  memoryQos: boolean,
  beside: PhaseResult | undefined,
  ports: UpPorts,
  progress: Progress,
  signal: AbortSignal,
): Promise<PhaseResult> {
  const name = memoryQos ? 'on' : 'off'
  progress.step('phase', `Memory QoS ${name}`)
  const plan: NodePlan = {
    ...base,
    settings: { ...base.settings, memoryQos },
    manifests: [
      {
        file: 'cache.yaml',
        text: cachePod(data),
        pods: [{ namespace: 'default', name: 'cache' }],
        problems: [],
      },
    ],
  }
  const node = await startNode(plan, ports, progress, signal)
  try {
    if (node.troubles.length > 0) throw keelsonError('up.failed', node.troubles.join('\n'))
    await Promise.race([waitForCache(node, ports, signal), node.broken])
    progress.step('cache', `${cacheMiB} MiB of page cache are warm; starting hog and noise`)
    await ports.write(`${plan.directories.pods}/hog.yaml`, hogPod)
    await ports.write(`${plan.directories.pods}/noise.yaml`, noisePod)
    await Promise.race([waitForNeighbours(plan, node, ports, signal), node.broken])
    write(formatHeader(beside !== undefined))
    return await Promise.race([watch(node, beside, ports, write, signal), node.broken])
  } finally {
    await node.stop()
    // The next cache must be written anew: pages of this one would still be charged to its pod.
    await ports.clear(data)
  }
}

const podNamed = (pods: readonly PodJson[], name: string): PodJson | undefined =>
  pods.find((p) => p.metadata.name.startsWith(`${name}-`))

function podValuesOf(pods: readonly PodJson[], name: string, ports: UpPorts): PodValues | undefined {
  const pod = podNamed(pods, name)
  return pod === undefined ? undefined : ports.values(pod.metadata.uid)
}

const shareOf = (values: PodValues | undefined): number =>
  Number(values?.pageCache ?? 0n) / (cacheMiB * 1024 * 1024)

/** How long containers take to start is not the question here. */
async function waitForNeighbours(
  { readyMs }: NodePlan,
  { view }: UpNode,
  ports: UpPorts,
  signal: AbortSignal,
): Promise<void> {
  for (const until = ports.nowMs() + readyMs; ; await ports.sleep(500, signal)) {
    const pods = await view.pods()
    const runs = (name: string): boolean => podNamed(pods, name)?.status.phase === 'Running'
    if (runs('hog') && runs('noise')) return
    if (ports.nowMs() > until)
      throw keelsonError(
        'up.failed',
        `hog and noise are not running after ${readyMs / 1000} s: ${troubles(pods)}`,
      )
  }
}

async function waitForCache({ view }: UpNode, ports: UpPorts, signal: AbortSignal): Promise<void> {
  for (const until = ports.nowMs() + warmMs; ; ) {
    const share = shareOf(podValuesOf(await view.pods(), 'cache', ports))
    if (share >= warmShare) return
    if (ports.nowMs() > until)
      throw keelsonError(
        'up.failed',
        `the cache of the demo has ${Math.round(share * 100)} % of its ${cacheMiB} MiB after ${warmMs / 1000} s; is its directory on a disk?`,
      )
    await ports.sleep(500, signal)
  }
}

function memoryValuesOf(pods: readonly PodJson[], name: string, ports: UpPorts): MemoryValues | undefined {
  const id = podNamed(pods, name)?.status.containerStatuses[0]?.containerID?.replace(/^.*:\/\//, '')
  return id === undefined ? undefined : ports.memory(id)
}

async function watch(
  { view }: UpNode,
  beside: PhaseResult | undefined,
  ports: UpPorts,
  write: (text: string) => void,
  signal: AbortSignal,
): Promise<PhaseResult> {
  const samples: PressureSample[] = []
  let [cacheMin, hogHigh] = ['-', '-']
  const startedMs = ports.nowMs()
  for (;;) {
    const second = (ports.nowMs() - startedMs) / 1000
    const pods = await view.pods()
    const sample = takeSample(second, pods, ports)
    cacheMin = memoryValuesOf(pods, 'cache', ports)?.min ?? cacheMin
    hogHigh = memoryValuesOf(pods, 'hog', ports)?.high ?? hogHigh
    write(formatSample(sample, beside?.samples[Math.min(samples.length, beside.samples.length - 1)]))
    samples.push(sample)
    if ((second >= leastS && isFull(sample)) || second >= mostS) return { samples, cacheMin, hogHigh }
    await ports.sleep(sampleMs, signal)
  }
}

/** The neighbour was killed because no more memory could be reclaimed. */
const isFull = ({ noiseKills, hogKills, hogThrottled }: PressureSample): boolean =>
  noiseKills > 0 && (hogKills > 0 || hogThrottled > 0)

function takeSample(second: number, pods: readonly PodJson[], ports: UpPorts): PressureSample {
  const hog = podValuesOf(pods, 'hog', ports)
  return {
    second,
    cacheShare: shareOf(podValuesOf(pods, 'cache', ports)),
    hogThrottled: Number(hog?.throttled ?? 0n),
    hogKills: Number(hog?.oomKills ?? 0n),
    noiseKills: Number(podValuesOf(pods, 'noise', ports)?.oomKills ?? 0n),
  }
}
