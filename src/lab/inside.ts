// Inside a machine: starts containerd, runs the command with its address in the environment, hands back the status.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { join } from 'node:path'
import { startPrivateContainerd } from './containerd/start-containerd.js'
import { forwardToPort } from './forward/guest.js'
import type { GuestContainerd } from './machine.js'

const signalBase = 128

export async function runInside(options: GuestContainerd, argv: readonly string[]): Promise<number> {
  const containerd = await startPrivateContainerd({
    ...options,
    dir: '/run/keelson-containerd',
    // overlayfs cannot lie on the machine's own overlay; /run is memory.
    root: '/run/keelson-containerd/root',
    socket: '/run/containerd/containerd.sock',
    bridge: 'lab0',
    subnet: '10.88.0.0/16',
    log: join(process.env.LAB_OUT ?? '/run', 'containerd.log'),
    guard: false,
  })
  const port = Number(process.env.LAB_FORWARD ?? 0)
  if (port > 0) forwardToPort(port)
  const [command, ...args] = argv
  if (command === undefined) throw new Error('no command to run inside')
  const child = spawn(command, args, {
    stdio: 'inherit',
    env: {
      ...process.env,
      CONTAINER_RUNTIME_ENDPOINT: containerd.endpoint,
      LAB_CONTAINERD_PID: String(containerd.pid()),
    },
  })
  child.on('error', (e) => process.stderr.write(`keelson lab: ${command}: ${e.message}\n`))
  const outcome = await Promise.race([
    once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>,
    once(child, 'error').then((): [number, null] => [127, null]),
  ]).catch((): [number, null] => [127, null])
  const [code, signal] = outcome
  return code ?? signalBase + (signal === null ? 0 : constants.signals[signal])
}
