// Runs one probe once: exec through the runtime, everything else over the network to the pod's address.
import { asKeelsonError } from '../../core/errors.js'
import type { Probe } from '../../core/pod/spec/handlers.js'
import type { ContainerSpec } from '../../core/pod/spec/spec.js'
import { formatGoDuration } from '../../core/units/go-duration.js'
import type { Clock } from '../../ports/clock.js'
import type { GetRequest, ProbeCalls } from '../../ports/network/probe-calls.js'
import type { RuntimeService } from '../../ports/runtime.js'
import { expandReferences } from '../environment/decide/expand.js'
import { getRequest, nextRequest, outcomeOfGet, resolvePort } from './decide/http-request.js'
import { outcomeOfHealth, type ProbeOutcome } from './decide/outcome.js'

export interface ProbePorts {
  readonly runtime: Pick<RuntimeService, 'execSync'>
  readonly calls: ProbeCalls
  readonly clock: Pick<Clock, 'monotonicNanos' | 'sleep'>
  /** `1.37`, as the User-Agent has it. */
  readonly release: string
}

interface ProbedContainer {
  readonly container: ContainerSpec
  readonly containerId: string
  readonly podIP: string
}

const maxOutput = 10 * 1024
/** What a runtime may need beyond the probe's own timeout to answer that it has passed. */
const execSlackMs = 5_000

export function runProbe(
  { action, timeoutSeconds }: Probe,
  { container, containerId, podIP }: ProbedContainer,
  ports: ProbePorts,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const timeoutMs = timeoutSeconds * 1000
  const userAgent = `kube-probe/${ports.release}`
  switch (action.kind) {
    case 'exec': {
      const command = expandStatic(action.command, container)
      return execProbe(command, containerId, timeoutSeconds, ports, signal)
    }
    case 'httpGet': {
      const request = getRequest(action.get, container.ports, podIP, userAgent)
      return typeof request === 'string' ? error(request) : httpProbe(request, timeoutMs, ports, signal)
    }
    case 'tcpSocket': {
      const port = resolvePort(action.port, container.ports)
      return typeof port === 'string'
        ? error(port)
        : tcpProbe(action.host ?? podIP, port, timeoutMs, ports, signal)
    }
    case 'grpc': {
      const { service, port } = action
      return grpcProbe({ host: podIP, port }, { service, userAgent }, timeoutSeconds, ports, signal)
    }
  }
}

const error = (message: string): Promise<ProbeOutcome> => Promise.resolve({ kind: 'error', message })

/** Only values that the manifest has itself: what needs the pod's fields or other objects stays as written. */
function expandStatic(command: readonly string[], { env }: ContainerSpec): readonly string[] {
  const values = new Map(env.flatMap((one) => ('value' in one ? [[one.name, one.value] as const] : [])))
  return command.map((word) => expandReferences(word, (name) => values.get(name)))
}

async function execProbe(
  command: readonly string[],
  containerId: string,
  timeoutSeconds: number,
  { runtime }: ProbePorts,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  try {
    const { stdout, stderr, exitCode } = await runtime.execSync(
      { containerId, cmd: [...command], timeout: BigInt(timeoutSeconds) },
      { timeoutMs: timeoutSeconds * 1000 + execSlackMs, signal },
    )
    if (exitCode === 0) return { kind: 'success' }
    const output = Buffer.concat([stdout, stderr]).subarray(0, maxOutput).toString()
    return { kind: 'failure', output }
  } catch (e) {
    const { code, message } = asKeelsonError(e)
    if (code === 'runtime.deadline') {
      const after = formatGoDuration(BigInt(timeoutSeconds) * 1_000_000_000n)
      const output = `command timed out: "${command.join(' ')}" timed out after ${after}`
      return { kind: 'failure', output: output.slice(0, maxOutput) }
    }
    return { kind: 'error', message }
  }
}

/** The timeout is for all requests together. */
async function httpProbe(
  first: GetRequest,
  timeoutMs: number,
  { calls, clock }: ProbePorts,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const began = clock.monotonicNanos()
  let request = first
  for (let redirects = 0; ; redirects += 1) {
    const left = Math.max(1, timeoutMs - Number(clock.monotonicNanos() - began) / 1e6)
    const answer = await calls.get(request, left, signal)
    const next = nextRequest(first, request, answer, redirects)
    if (next === undefined) return outcomeOfGet(answer)
    if (typeof next === 'string') return { kind: 'failure', output: next }
    request = next
  }
}

async function tcpProbe(
  host: string,
  port: number,
  timeoutMs: number,
  { calls }: ProbePorts,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const problem = await calls.connect({ host, port }, timeoutMs, signal)
  return problem === undefined ? { kind: 'success' } : { kind: 'failure', output: problem }
}

/** gRPC's first wait before it dials again, which it does until the probe's time is over. */
const redialMs = 1_000

async function grpcProbe(
  target: { readonly host: string; readonly port: number },
  request: { readonly service: string; readonly userAgent: string },
  timeoutSeconds: number,
  { calls, clock }: ProbePorts,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const began = clock.monotonicNanos()
  const leftMs = (): number =>
    Math.max(1, timeoutSeconds * 1000 - Number(clock.monotonicNanos() - began) / 1e6)
  let answer = await calls.health(target, request, leftMs(), signal)
  while (answer.kind === 'not-connected' && answer.why === 'other' && !signal.aborted) {
    const hasTime = leftMs() > redialMs
    await clock.sleep(Math.min(redialMs, leftMs()), signal).catch(() => undefined)
    answer = hasTime
      ? await calls.health(target, request, leftMs(), signal)
      : { ...answer, why: 'timeout', message: 'context deadline exceeded' }
  }
  const host = target.host.includes(':') ? `[${target.host}]` : target.host
  return outcomeOfHealth(answer, `${host}:${target.port}`, timeoutSeconds)
}
