// Which containers of a pod with a ready sandbox are to be started or killed now: init containers one after the other, sidecars
// in between and kept alive, then all app containers, each again by the restart policy and its back-off.

import type { ContainerSpec, PodSpec } from '../../../core/pod/spec/spec.js'
import { formatGoDuration } from '../../../core/units/go-duration.js'
import { type ContainerHealth, unprobed } from '../../probes/decide/health.js'
import type { PodAction, PodTurn, PodTurnInput, Waiting } from './actions.js'
import { newestOf, type ObservedContainer, type ObservedSandbox } from './observed.js'
import { backoffUntil } from './restart-backoff.js'
import { restartsAfterExit, restartsAfterProbe } from './restart-rules.js'

interface Step {
  readonly action?: PodAction
  readonly wakeAtNanos?: bigint
  readonly waiting?: Waiting
  /** Whether the next init container may follow. */
  readonly done: boolean
}

export function planContainers(i: PodTurnInput, spec: PodSpec, sandbox: ObservedSandbox): PodTurn {
  const steps: { readonly name: string; readonly step: Step }[] = []
  const take = (container: ContainerSpec): Step => {
    const step = planOne(i, spec, sandbox, container)
    steps.push({ name: container.name, step })
    return step
  }
  const isHere = ({ name }: ContainerSpec): boolean => isIn(newestOf(i.observed, name), sandbox)
  // Once an app container was created here the pod is initialized for good: only sidecars are restarted.
  const initialized = spec.containers.some(isHere)
  // What comes before the last one that was created here has passed, though its instance may have been removed since.
  const reached = spec.initContainers.findLastIndex(isHere)
  let mayGoOn = true
  for (const [place, container] of spec.initContainers.entries()) {
    const hasPassed = initialized || place < reached
    if (hasPassed && container.kind === 'init') continue
    if (!hasPassed && !mayGoOn) break
    mayGoOn = take(container).done || hasPassed
  }
  if (initialized || mayGoOn) for (const container of spec.containers) take(container)
  // Debug containers do not wait for initialization: that may be what is being debugged.
  for (const container of spec.ephemeralContainers) take(container)
  const wakes = steps.flatMap(({ step }) => (step.wakeAtNanos === undefined ? [] : [step.wakeAtNanos]))
  return {
    actions: steps
      .flatMap(({ step }) => (step.action === undefined ? [] : [step.action]))
      // Ends first: what starts may need what they hold.
      .toSorted((a, b) => Number(b.kind === 'stop-containers') - Number(a.kind === 'stop-containers')),
    wakeAtNanos: wakes.length === 0 ? undefined : wakes.reduce((a, b) => (a < b ? a : b)),
    waiting: new Map(
      steps.flatMap(({ name, step }) => (step.waiting === undefined ? [] : [[name, step.waiting] as const])),
    ),
  }
}

const isIn = (container: ObservedContainer | undefined, sandbox: ObservedSandbox): boolean =>
  container?.sandboxId === sandbox.id

function planOne(i: PodTurnInput, spec: PodSpec, sandbox: ObservedSandbox, container: ContainerSpec): Step {
  const newest = newestOf(i.observed, container.name)
  // Started once, in whatever sandbox.
  if (container.kind === 'ephemeral' && newest !== undefined && newest.state !== 'created')
    return { done: false }
  if (newest !== undefined && isIn(newest, sandbox)) {
    if (newest.state === 'running') {
      const health = i.health?.get(newest.id) ?? unprobed(container.probes)
      const done = container.kind === 'sidecar' && health.started
      return health.failed === undefined
        ? { done }
        : { action: planKill(spec, container, newest, health.failed), done }
    }
    if (newest.state === 'created')
      return unlessHeld(i, container, { kind: 'start-created', id: newest.id, name: container.name })
    if (newest.state === 'exited' && container.kind === 'init' && newest.exitCode === 0) return { done: true }
  }
  // What ended well in an earlier sandbox is over for an app container, but an init container must run again.
  const isAgain = newest !== undefined && (isIn(newest, sandbox) || container.kind === 'app')
  if (newest?.state === 'exited' && isAgain && !restartsAfterExit(spec, container, newest))
    return { done: false }
  return planStart(i, spec, container, newest)
}

function planKill(
  spec: PodSpec,
  container: ContainerSpec,
  { id, name }: ObservedContainer,
  probe: NonNullable<ContainerHealth['failed']>,
): PodAction {
  const said = `${container.kind === 'sidecar' ? 'Init container' : 'Container'} ${name} failed ${probe} probe`
  const again = container.kind === 'app' && restartsAfterProbe(spec, container)
  return {
    kind: 'stop-containers',
    targets: [{ id, name, kind: container.kind, message: again ? `${said}, will be restarted` : said }],
    graceSeconds:
      container.probes[probe]?.terminationGracePeriodSeconds ?? spec.terminationGracePeriodSeconds,
    why: `it failed its ${probe} probe`,
    killedFor: 'probe',
  }
}

function planStart(
  i: PodTurnInput,
  spec: PodSpec,
  container: ContainerSpec,
  before: ObservedContainer | undefined,
): Step {
  const { name } = container
  const endedAtNanos = countedEnd(i, before)
  const backoff = i.backoffs.get(name)
  const until =
    endedAtNanos === undefined
      ? undefined
      : backoffUntil(backoff, endedAtNanos, i.nowNanos, i.maxBackoffNanos)
  if (until !== undefined && backoff !== undefined) {
    const { pod } = spec
    const message = `back-off ${formatGoDuration(backoff.delayNanos)} restarting failed container=${name} pod=${pod.name}_${pod.namespace}(${pod.uid})`
    return { wakeAtNanos: until, waiting: { reason: 'CrashLoopBackOff', message }, done: false }
  }
  const attempt = Math.max(before?.attempt ?? -1, i.attempts?.get(name) ?? -1) + 1
  return unlessHeld(i, container, { kind: 'start-container', name, attempt, endedAtNanos })
}

/**
 * The end that back-off counts from. A probe's kill was our own doing: the end before it counts, unless that one is still
 * backed off.
 */
function countedEnd(i: PodTurnInput, before: ObservedContainer | undefined): bigint | undefined {
  if (before?.state !== 'exited') return undefined
  const end = i.endedAt.get(before.id)
  if (before.killedFor !== 'probe') return end
  const earlier = i.observed.containers.find(
    ({ id, name, state }) => name === before.name && state === 'exited' && id !== before.id,
  )
  const earlierEnd = earlier === undefined ? undefined : i.endedAt.get(earlier.id)
  if (earlierEnd === undefined) return undefined
  const isBackedOff =
    backoffUntil(i.backoffs.get(before.name), earlierEnd, i.nowNanos, i.maxBackoffNanos) !== undefined
  return isBackedOff ? end : earlierEnd
}

function unlessHeld(i: PodTurnInput, { name }: ContainerSpec, action: PodAction): Step {
  const hold = i.holds.get(name)
  if (hold === undefined || hold.untilNanos <= i.nowNanos) return { action, done: false }
  const { reason, message, untilNanos } = hold
  return { wakeAtNanos: untilNanos, waiting: { reason, message }, done: false }
}
