// Ends containers within one grace period: preStop hooks first and all at once, then SIGTERM to the app containers, then to
// the sidecars one after the other, each when those before it have ended or the time is over.
import { asKeelsonError } from '../../../core/errors.js'
import { allContainerSpecs, type PodSpec } from '../../../core/pod/spec/spec.js'
import { pause } from '../../../core/units/retry.js'
import { runHook } from '../../hooks/run-hook.js'
import type { PodContext } from '../context.js'
import type { PodAction, StopTarget } from '../decide/actions.js'
import { currentSandbox, type ObservedPod } from '../decide/observed.js'

type StopAction = Extract<PodAction, { readonly kind: 'stop-containers' }>

interface StopInput {
  readonly spec: PodSpec | undefined
  readonly observed: ObservedPod
}

/** Whatever hooks and others have used up: a container can still close its files. */
const leastGraceSeconds = 2

export async function stopContainers(
  { targets, graceSeconds, why }: StopAction,
  i: StopInput,
  c: PodContext,
  signal: AbortSignal,
): Promise<void> {
  const { observed } = i
  const pod = `${observed.namespace}/${observed.name}`
  c.log.info('stopping containers', { pod, containers: targets.map((t) => t.name), graceSeconds, why })
  const ends: { readonly kind: StopTarget['kind']; readonly end: Promise<void> }[] = []
  for (const target of targets) {
    const { kind } = target
    // A sidecar is needed by what started after it.
    const before = kind === 'sidecar' ? ends.map(({ end }) => end) : []
    ends.push({ kind, end: stopOne(target, graceSeconds, before, i, c, signal) })
  }
  const results = await Promise.allSettled(ends.map(({ end }) => end))
  const failed = results.find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

async function stopOne(
  { id, name, kind, message = `Stopping container ${name}` }: StopTarget,
  graceSeconds: number,
  before: readonly Promise<void>[],
  i: StopInput,
  c: PodContext,
  signal: AbortSignal,
): Promise<void> {
  const began = c.clock.monotonicNanos()
  const left = (): number => graceSeconds - Number((c.clock.monotonicNanos() - began) / 1_000_000_000n)
  c.events.pod(i.observed, { type: 'Normal', reason: 'Killing', message, container: { kind, name } })
  // A hook that takes longer than its time is left running until the container has ended.
  const over = new AbortController()
  const hook = runPreStop(id, name, graceSeconds, i, c, { stopped: signal, ended: over.signal })
  await atMost(hook, graceSeconds * 1000, c, signal)
  if (before.length > 0 && left() > 0) await atMost(Promise.allSettled(before), left() * 1000, c, signal)
  const seconds = Math.max(leastGraceSeconds, left())
  const options = { timeoutMs: seconds * 1000 + c.timeoutMs, signal }
  try {
    await orGone(c.runtime.stopContainer({ containerId: id, timeout: BigInt(seconds) }, options))
  } finally {
    over.abort()
    await hook
  }
}

interface HookEnds {
  /** The kubelet stops. */
  readonly stopped: AbortSignal
  /** The container has ended. */
  readonly ended: AbortSignal
}

/** Without a grace period there is no time for it. One that ended with its container has failed. */
async function runPreStop(
  containerId: string,
  name: string,
  graceSeconds: number,
  { spec, observed }: StopInput,
  c: PodContext,
  { stopped, ended }: HookEnds,
): Promise<void> {
  const container = spec && allContainerSpecs(spec).find((one) => one.name === name)
  const hook = container?.hooks.preStop
  if (spec === undefined || container === undefined || hook === undefined || graceSeconds === 0) return
  const seen = observed.containers.find(({ id }) => id === containerId)
  if (seen !== undefined && seen.state !== 'running') return
  const [podIP = ''] = spec.hostNetwork ? c.hostIPs : (currentSandbox(observed)?.ips ?? [])
  const of = { pod: spec.pod, container, containerId, podIP }
  const timeoutMs = (graceSeconds + leastGraceSeconds) * 1000 + c.timeoutMs
  const problem = await runHook(hook, of, c, timeoutMs, AbortSignal.any([stopped, ended]))
  if (problem === undefined || stopped.aborted) return
  // A pause is over with its container, whatever is left of it.
  if (hook.kind === 'sleep' && ended.aborted) return
  c.log.warn('preStop hook failed', {
    pod: `${observed.namespace}/${observed.name}`,
    container: name,
    problem,
  })
  // Without the reason, which may hold what only the container should say.
  c.events.pod(spec.pod, {
    type: 'Warning',
    reason: 'FailedPreStopHook',
    message: 'PreStopHook failed',
    container,
  })
}

/** The result of the work, or undefined once the time is over. */
async function atMost<T>(
  work: Promise<T>,
  ms: number,
  c: PodContext,
  signal: AbortSignal,
): Promise<T | undefined> {
  const timer = new AbortController()
  const time = pause(c.clock, ms, signal, timer.signal).then(() => undefined)
  try {
    return await Promise.race([work, time])
  } finally {
    timer.abort()
  }
}

export async function orGone(call: Promise<unknown>): Promise<void> {
  try {
    await call
  } catch (e) {
    if (asKeelsonError(e).code !== 'runtime.not-found') throw e
  }
}
