// Keeps the logs of containers within their limits: looks at each every containerLogMonitorInterval, renames a file that
// has grown too large and has the runtime open a new one. What to do is decided in core/cri/log-rotation.ts.

import { type LogRotation, type LogRotationPolicy, planLogRotation } from '../../../core/cri/log-rotation.js'
import { asKeelsonError, rethrowBug } from '../../../core/errors.js'
import { pause } from '../../../core/units/retry.js'
import type { PodContext } from '../context.js'
import type { ObservedContainer, ObservedPod } from '../decide/observed.js'
import { isOwnPod } from '../decide/owner.js'
import { containerLogName, containerLogPath, podLogDirectory } from '../to-cri/names.js'
import { createLimiter } from './limiter.js'

interface LogRotationOptions {
  readonly context: Pick<
    PodContext,
    'runtime' | 'view' | 'host' | 'clock' | 'log' | 'metrics' | 'paths' | 'identity' | 'timeoutMs'
  >
  readonly policy: LogRotationPolicy
  /** containerLogMaxWorkers. */
  readonly workers: number
  /** containerLogMonitorInterval. */
  readonly intervalMs: number
  readonly signal: AbortSignal
}

interface RunningLog {
  readonly id: string
  readonly pod: string
  readonly container: string
  readonly directory: string
  readonly name: string
}

/** Ends with the signal; rejects only of a bug. */
export async function rotateLogs(o: LogRotationOptions): Promise<void> {
  const { clock, log, metrics, view } = o.context
  const workers = createLimiter(o.workers)
  const outcomes = metrics.counter(
    'keelson_container_log_rotations_total',
    'Rotations of container logs by outcome: rotated or failed.',
    ['outcome'],
  )
  /** By container id: the same failure is said once, not every ten seconds. */
  const failures = new Map<string, string>()
  const rotate = async (file: RunningLog): Promise<void> => {
    try {
      if (await rotateOne(file, o)) outcomes.inc({ outcome: 'rotated' })
      failures.delete(file.id)
    } catch (e) {
      if (o.signal.aborted) return
      const error = rethrowBug(e)
      outcomes.inc({ outcome: 'failed' })
      if (failures.get(file.id) !== error.message)
        log.warn('container log rotation failed; retrying', {
          pod: file.pod,
          container: file.container,
          error,
        })
      failures.set(file.id, error.message)
    }
  }
  while (!o.signal.aborted) {
    await pause(clock, o.intervalMs, o.signal)
    if (o.signal.aborted) return
    const files = view.all().flatMap((pod) => runningLogs(pod, o.context))
    for (const id of failures.keys()) if (!files.some((file) => file.id === id)) failures.delete(id)
    await Promise.all(
      files.map((file) => workers.run(() => (o.signal.aborted ? Promise.resolve() : rotate(file)))),
    )
  }
}

/** The logs of another kubelet's pods are its own to rotate. */
function runningLogs(
  pod: ObservedPod,
  { paths, view, identity }: Pick<PodContext, 'paths' | 'view' | 'identity'>,
): readonly RunningLog[] {
  if (!isOwnPod({ ...pod, annotations: view.annotations(pod.uid) }, identity)) return []
  const top = podLogDirectory(paths, pod)
  const isOurs = ({ state, name, attempt, logPath }: ObservedContainer): boolean =>
    state === 'running' && logPath === `${top}/${containerLogPath(name, attempt)}`
  return pod.containers.filter(isOurs).map(({ id, name, attempt }) => ({
    id,
    pod: `${pod.namespace}/${pod.name}`,
    container: name,
    directory: `${top}/${name}`,
    name: containerLogName(attempt),
  }))
}

/** True: the log was rotated. */
async function rotateOne(file: RunningLog, o: LogRotationOptions): Promise<boolean> {
  const { host, clock, log } = o.context
  // The careful look takes a dozen calls; nearly always a careless one tells that there is nothing to do.
  const size = await host.logSize(`${file.directory}/${file.name}`)
  if (size !== undefined && BigInt(size) < o.policy.maxSize) return false
  const files = await host.listLogs(file.directory)
  // The directory goes with the pod.
  if (files === undefined) return false
  const plan = planLogRotation(file.name, files, o.policy, clock.nowNanos())
  switch (plan.kind) {
    case 'none':
      return false
    case 'missing':
      log.info('container log is missing; asking the runtime to reopen it', nameOf(file))
      await reopen(file, o)
      return false
    case 'replaced':
      // Fails with what is there instead.
      await host.openLog(`${file.directory}/${file.name}`).then((opened) => opened?.close())
      return false
    case 'rotate':
      await carryOut(file, plan, o)
      return true
  }
}

async function carryOut(
  file: RunningLog,
  plan: Extract<LogRotation, { readonly kind: 'rotate' }>,
  o: LogRotationOptions,
): Promise<void> {
  const { host, log } = o.context
  for (const name of plan.remove) await host.removeLog(file.directory, name)
  // A full disk is a reason to rotate and not a reason against it.
  for (const name of plan.compress)
    await host.compressLog(file.directory, name).catch((e: unknown) => {
      log.warn('failed to compress a rotated log', { ...nameOf(file), file: name, error: asKeelsonError(e) })
    })
  await host.moveLog(file.directory, file.name, plan.to)
  try {
    await reopen(file, o)
  } catch (e) {
    await giveBack(file, plan.to, o)
    throw e
  }
  log.info('rotated container log', { ...nameOf(file), file: plan.to })
}

const reopen = ({ id }: RunningLog, { context, signal }: LogRotationOptions): Promise<unknown> =>
  context.runtime.reopenContainerLog({ containerId: id }, { timeoutMs: context.timeoutMs, signal })

/** The runtime still writes to the renamed file. Where it has made a new one after all, both stay as they are. */
async function giveBack(file: RunningLog, rotated: string, { context }: LogRotationOptions): Promise<void> {
  const { host, log } = context
  await host.moveLog(file.directory, rotated, file.name).catch((e: unknown) => {
    log.warn('failed to undo a log rotation; the log keeps its new name', {
      ...nameOf(file),
      file: rotated,
      error: asKeelsonError(e),
    })
  })
}

const nameOf = ({ pod, container }: RunningLog) => ({ pod, container })
