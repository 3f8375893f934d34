// Runs the hook of a container once: a command in it, a GET, or a pause. What a failed hook means is its caller's decision.
import { rethrowBug } from '../../core/errors.js'
import type { HookAction, HttpGet } from '../../core/pod/spec/handlers.js'
import type { ContainerSpec, PodSpec } from '../../core/pod/spec/spec.js'
import type { Clock } from '../../ports/clock.js'
import type { GetAnswer, GetRequest, ProbeCalls } from '../../ports/network/probe-calls.js'
import type { RuntimeService } from '../../ports/runtime.js'
import type { PodEvents } from '../events/pod-events.js'
import { getRequest, nextRequest } from '../probes/decide/http-request.js'

interface HookPorts {
  readonly runtime: Pick<RuntimeService, 'execSync'>
  readonly calls: ProbeCalls
  readonly clock: Clock
  readonly events: PodEvents
  /** `1.37`, as the User-Agent has it. */
  readonly release: string
}

interface HookedContainer {
  readonly pod: PodSpec['pod']
  readonly container: ContainerSpec
  readonly containerId: string
  readonly podIP: string
}

/** Undefined: it has done what it should; otherwise why not. Ends with the signal, and after `timeoutMs` at the latest. */
export async function runHook(
  hook: HookAction,
  of: HookedContainer,
  ports: HookPorts,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  switch (hook.kind) {
    case 'exec':
      return runCommand(hook.command, of, ports, timeoutMs, signal)
    case 'httpGet':
      return sendGet(hook.get, of, ports, timeoutMs, signal)
    case 'sleep':
      return sleep(hook.seconds * 1000, ports, timeoutMs, signal)
  }
}

async function runCommand(
  command: readonly string[],
  { containerId }: HookedContainer,
  { runtime }: HookPorts,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    // Without a timeout of its own, as upstream: the caller's time ends the call, and the container's end the command.
    const request = { containerId, cmd: [...command], timeout: 0n }
    const { exitCode } = await runtime.execSync(request, { timeoutMs, signal })
    return exitCode === 0 ? undefined : `command '${command.join(' ')}' exited with ${exitCode}`
  } catch (e) {
    return rethrowBug(e).message
  }
}

async function sleep(
  ms: number,
  { clock }: HookPorts,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    await clock.sleep(Math.min(ms, timeoutMs), signal)
  } catch {
    return 'container terminated before sleep hook finished'
  }
  return ms > timeoutMs ? 'container terminated before sleep hook finished' : undefined
}

async function sendGet(
  get: HttpGet,
  { pod, container, podIP }: HookedContainer,
  ports: HookPorts,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const request = getRequest(get, container.ports, podIP, `kube-lifecycle/${ports.release}`)
  if (typeof request === 'string') return request
  if (request.host === '') return 'failed to find networking container'
  const answer = await follow(request, ports.calls, timeoutMs, signal)
  if (answer.kind !== 'failed') return undefined
  if (answer.why !== 'plain') return answer.message
  // The container speaks HTTP though its hook says HTTPS: asked again without TLS, and without what only TLS may carry.
  const again = await follow(withoutTls(request), ports.calls, timeoutMs, signal)
  if (again.kind === 'failed') return answer.message
  const message = `request to HTTPS lifecycle hook ${request.host}:${request.port} got HTTP response, retry with HTTP succeeded`
  ports.events.pod(pod, { type: 'Warning', reason: 'LifecycleHTTPFallback', message })
  return undefined
}

function withoutTls(request: GetRequest): GetRequest {
  const headers = request.headers.filter((_, i, all) => {
    const name = i % 2 === 0 ? all[i] : all[i - 1]
    return name?.toLowerCase() !== 'authorization'
  })
  return { ...request, tls: false, headers }
}

/** Redirects to the same host are followed; any answer will do. */
async function follow(
  first: GetRequest,
  calls: ProbeCalls,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<GetAnswer> {
  let request = first
  for (let redirects = 0; ; redirects += 1) {
    const answer = await calls.get(request, timeoutMs, signal)
    const next = nextRequest(first, request, answer, redirects)
    if (next === undefined) return answer
    if (typeof next === 'string') return { kind: 'failed', why: 'other', message: next }
    request = next
  }
}
