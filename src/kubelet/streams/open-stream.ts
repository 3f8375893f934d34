// Prepares a stream into a pod: finds the container or sandbox, and asks the runtime where its streaming server waits for it.
import { keelsonError } from '../../core/errors.js'
import type { PodJson } from '../../core/pod/document.js'
import type { StreamTarget } from '../../ports/http.js'
import type { OpenStream, StreamRequest } from '../../serve/endpoints/streams.js'
import type { PodContext } from '../pods/context.js'
import { currentSandbox, type ObservedPod } from '../pods/decide/observed.js'
import type { PodRunner } from '../pods/run/runner.js'
import { streamTarget } from './decide/stream-target.js'

type Runner = Pick<PodRunner, 'find' | 'pods'>

export const createOpenStream =
  (runner: Runner, c: Pick<PodContext, 'runtime' | 'timeoutMs'>): OpenStream =>
  async (request, signal) => {
    const pod = runner.find(request.namespace, request.pod)
    if (pod === undefined || (request.uid !== undefined && request.uid !== pod.uid))
      throw keelsonError('pod.not-found', 'pod does not exist')
    const { url } = await ask(request, pod, runner, c, signal)
    return streamTarget(url) satisfies StreamTarget
  }

function ask(
  request: StreamRequest,
  pod: ObservedPod,
  runner: Runner,
  { runtime, timeoutMs }: Pick<PodContext, 'runtime' | 'timeoutMs'>,
  signal: AbortSignal,
): Promise<{ readonly url: string }> {
  const options = { timeoutMs, signal }
  if (request.kind === 'portForward') {
    const sandbox = currentSandbox(pod)
    if (sandbox === undefined) throw keelsonError('pod.not-found', 'pod does not run: it has no sandbox')
    return runtime.portForward({ podSandboxId: sandbox.id, port: [...request.ports] }, options)
  }
  const { container, stdin, stdout, stderr } = request
  const found = pod.containers.find((one) => one.name === container && one.state === 'running')
  if (found === undefined)
    throw keelsonError('pod.not-found', `container not found (${JSON.stringify(container)})`)
  const common = { containerId: found.id, stdin, stdout }
  if (request.kind === 'exec') {
    const { command, tty } = request
    return runtime.exec({ ...common, stderr, cmd: [...command], tty }, options)
  }
  // Whether a process has a terminal was settled when it started.
  const tty = hasTty(runner.pods(), pod.uid, container)
  return runtime.attach({ ...common, stderr: stderr && !tty, tty }, options)
}

function hasTty(pods: readonly PodJson[], uid: string, container: string): boolean {
  const spec = pods.find(({ metadata }) => metadata.uid === uid)?.spec ?? {}
  const lists = [spec['containers'], spec['initContainers'], spec['ephemeralContainers']]
  const all = lists.flatMap((list) =>
    Array.isArray(list) ? (list as { name?: string; tty?: boolean }[]) : [],
  )
  return all.find(({ name }) => name === container)?.tty === true
}
