// A command in a running container, to its end, through the runtime's ExecSync.
import { keelsonError } from '../../core/errors.js'
import type { RunRequest, RunResult } from '../../serve/endpoints/run.js'
import type { PodContext } from '../pods/context.js'
import type { PodRunner } from '../pods/run/runner.js'

/** gRPC messages of a runtime end at 16 MiB; so does the output of a command. */
export async function runCommand(
  { namespace, pod, uid, container, command, timeoutSeconds }: RunRequest,
  runner: Pick<PodRunner, 'find'>,
  c: Pick<PodContext, 'runtime' | 'timeoutMs'>,
  signal: AbortSignal,
): Promise<RunResult> {
  const seen = runner.find(namespace, pod)
  const isOther = uid !== undefined && uid !== seen?.uid
  const found = (isOther ? undefined : seen)?.containers.find(
    (one) => one.name === container && one.state === 'running',
  )
  if (found === undefined)
    throw keelsonError(
      'pod.not-found',
      `run a command in ${namespace}/${pod} ${container}: no such container runs`,
    )
  const timeoutMs = timeoutSeconds === 0 ? c.timeoutMs : timeoutSeconds * 1000 + 5_000
  const { stdout, stderr, exitCode } = await c.runtime.execSync(
    { containerId: found.id, cmd: [...command], timeout: BigInt(timeoutSeconds) },
    { timeoutMs, signal },
  )
  return { stdout, stderr, exitCode }
}
