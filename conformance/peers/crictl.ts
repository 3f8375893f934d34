// crictl against one socket: the command-line client of the CRI project, as an independent view of a runtime.
import { runCommand } from '../process.js'

const TIMEOUT_MS = 60_000

/** Runs `crictl ARGS` and returns its output. It reads no configuration file of the host. */
export async function runCrictl(binary: string, endpoint: string, args: readonly string[]): Promise<string> {
  const sockets = ['--runtime-endpoint', endpoint, '--image-endpoint', endpoint]
  const { stdout } = await runCommand(
    binary,
    ['--config', '/dev/null', '--timeout', '30s', ...sockets, ...args],
    {
      timeoutMs: TIMEOUT_MS,
    },
  )
  return stdout
}

export interface CrictlPod {
  readonly id: string
  readonly state: string
  readonly metadata: { readonly name: string; readonly namespace: string }
}

export async function listPodsWithCrictl(binary: string, endpoint: string): Promise<readonly CrictlPod[]> {
  const { items } = JSON.parse(await runCrictl(binary, endpoint, ['pods', '-o', 'json'])) as {
    readonly items: readonly CrictlPod[]
  }
  return items
}
