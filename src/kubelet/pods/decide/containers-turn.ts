// Which containers of a pod with a ready sandbox are to be started now: init containers one after the other, sidecars in
// between and kept alive, then all app containers, each again by the restart policy and its back-off.

import type { ContainerSpec, PodSpec } from '../../../core/pod/spec/spec.js'
import { formatGoDuration } from '../../../core/units/go-duration.js'
import type { PodAction, PodTurn, PodTurnInput, Waiting } from './actions.js'
import { newestOf, type ObservedContainer, type ObservedSandbox } from './observed.js'
import { restartsAfterExit } from './phase.js'
import { backoffUntil } from './restart-backoff.js'

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
  // Once an app container was created here the pod is initialized for good: only sidecars are restarted.
  const initialized = spec.containers.some((c) => isIn(newestOf(i.observed, c.name), sandbox))
  let mayGoOn = true
  for (const container of spec.initContainers) {
    if (initialized && container.kind === 'init') continue
    if (!initialized && !mayGoOn) break
    mayGoOn = take(container).done
  }
  if (initialized || mayGoOn) for (const container of spec.containers) take(container)
  // Debug containers do not wait for initialization: that may be what is being debugged.
  for (const container of spec.ephemeralContainers) take(container)
  const wakes = steps.flatMap(({ step }) => (step.wakeAtNanos === undefined ? [] : [step.wakeAtNanos]))
  return {
    actions: steps.flatMap(({ step }) => (step.action === undefined ? [] : [step.action])),
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
    if (newest.state === 'running') return { done: container.kind === 'sidecar' }
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

function planStart(
  i: PodTurnInput,
  spec: PodSpec,
  container: ContainerSpec,
  before: ObservedContainer | undefined,
): Step {
  const { name } = container
  const endedAtNanos = before?.state === 'exited' ? i.endedAt.get(before.id) : undefined
  const backoff = i.backoffs.get(name)
  const until = endedAtNanos === undefined ? undefined : backoffUntil(backoff, endedAtNanos, i.nowNanos)
  if (until !== undefined && backoff !== undefined) {
    const { pod } = spec
    const message = `back-off ${formatGoDuration(backoff.delayNanos)} restarting failed container=${name} pod=${pod.name}_${pod.namespace}(${pod.uid})`
    return { wakeAtNanos: until, waiting: { reason: 'CrashLoopBackOff', message }, done: false }
  }
  const attempt = before === undefined ? 0 : before.attempt + 1
  return unlessHeld(i, container, { kind: 'start-container', name, attempt, endedAtNanos })
}

function unlessHeld(i: PodTurnInput, { name }: ContainerSpec, action: PodAction): Step {
  const hold = i.holds.get(name)
  if (hold === undefined || hold.untilNanos <= i.nowNanos) return { action, done: false }
  const { reason, message, untilNanos } = hold
  return { wakeAtNanos: untilNanos, waiting: { reason, message }, done: false }
}
