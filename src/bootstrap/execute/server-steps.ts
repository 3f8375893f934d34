// The CRI server as a systemd service: it is running and responds before clients are switched to it, and is stopped only
// after they are switched back. Without systemd only the files are changed.
import { keelsonError } from '../../core/errors.js'
import type { NodePorts } from '../../ports/bootstrap.js'
import type { ServerChange } from '../plan.js'

/** A cold start of the server on a small machine takes a few seconds. */
const answerWithinMs = 60_000
const askEveryMs = 200

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

async function waitForAnswer({ unit, endpoint }: ServerChange, ports: NodePorts): Promise<void> {
  for (const until = ports.now().getTime() + answerWithinMs; ; await pause(askEveryMs)) {
    if (await ports.sockets.answers(endpoint)) return
    if (ports.now().getTime() > until)
      throw keelsonError(
        'systemd.failed',
        `start ${unit}: no response at ${endpoint} after ${answerWithinMs / 1000} s; see journalctl --unit ${unit}`,
        { unit, endpoint },
      )
  }
}

/** `changed`: one of its files is new, so what runs now is not what they say. */
export async function startServer(
  server: ServerChange,
  changed: boolean,
  ports: NodePorts,
): Promise<string[]> {
  const { services } = ports
  if (!(await services.available())) return []
  if (!changed && (await services.isActive(server.unit))) return []
  await services.reload()
  await services.restart(server.unit)
  await waitForAnswer(server, ports)
  return [`started ${server.unit}`]
}

async function endServer({ unit, wasActive }: ServerChange, ports: NodePorts): Promise<string[]> {
  const { services } = ports
  if (!(await services.available())) return []
  if (!wasActive) await services.stop(unit)
  await services.reload()
  if (wasActive) await services.restart(unit)
  return [wasActive ? `restarted ${unit} as before` : `stopped ${unit}`]
}

async function restartKubelet(ports: NodePorts): Promise<string[]> {
  const unit = await ports.kubelet.restartIfActive()
  return unit === undefined ? [] : [`restarted ${unit}`]
}

/** After all files: clients move to where the files send them, and only then does the old way end. */
export async function finishServer(server: ServerChange, ports: NodePorts): Promise<string[]> {
  const moved = await restartKubelet(ports)
  return server.put ? moved : [...moved, ...(await endServer(server, ports))]
}

/** The change did not come about: the other direction, as far as it can be had. `moved`: the kubelet's files had changed. */
export async function takeServerBack(server: ServerChange, moved: boolean, ports: NodePorts): Promise<void> {
  if (moved) await restartKubelet(ports).catch(() => [])
  if (server.put) await endServer(server, ports).catch(() => [])
  else await startServer(server, true, ports).catch(() => [])
}
