// Starts a planned machine, carries its output, waits for its end or ends it. Nothing it started is left when it returns.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { keelsonError, messageOf } from '../core/errors.js'
import { type ReservedPort, reservePort } from './forward/host.js'
import type { LabOutcome, LabRequest } from './machine.js'
import type { MachinePlan } from './machine-plan.js'
import { endGroup, lastLines, startProgram } from './process.js'

export interface BootIo {
  readonly stdout: NodeJS.WritableStream
  readonly stderr: NodeJS.WritableStream
  readonly env: Readonly<Record<string, string | undefined>>
}

/** If the supervisor is killed, the kernel kills its children; only files are left. */
const dyingWithUs = (argv: readonly string[]): string[] => ['setpriv', '--pdeathsig', 'KILL', ...argv]

export async function boot(
  request: LabRequest,
  io: BootIo,
  runDir: string,
  plan: MachinePlan,
  signal: AbortSignal,
): Promise<LabOutcome> {
  const log = join(runDir, 'console.log')
  const started: ChildProcess[] = []
  const servers: Server[] = []
  const flows: Promise<unknown>[] = []
  let port: ReservedPort | undefined
  const timeout = AbortSignal.timeout(request.timeoutS * 1000)
  const stop = AbortSignal.any([signal, timeout])
  try {
    stop.throwIfAborted()
    if (request.forward !== undefined) port = await reservePort(request.forward)
    const logFd = openSync(log, 'a')
    for (const { argv, socket } of plan.before) {
      started.push(startProgram(dyingWithUs(argv), { stdio: ['ignore', logFd, logFd] }))
      await appears(socket, stop)
    }
    if (plan.output === 'sockets' && !request.interactive)
      for (const [name, target] of [
        ['out', io.stdout],
        ['err', io.stderr],
      ] as const)
        servers.push(await listen(join(runDir, `${name}.sock`), (s) => flows.push(flow(s, target))))
    const machine = startProgram(dyingWithUs(plan.argv), {
      stdio: request.interactive
        ? ['inherit', 'inherit', logFd, logFd]
        : [
            'ignore',
            logFd,
            logFd,
            ...(plan.output === 'descriptors' ? pipes(port === undefined ? 2 : 4) : []),
          ],
      env: { ...io.env },
    })
    started.push(machine)
    if (plan.output === 'descriptors' && !request.interactive)
      for (const [fd, target] of [
        [3, io.stdout],
        [4, io.stderr],
      ] as const)
        flows.push(flow(machine.stdio[fd] as unknown as Socket, target))
    if (port !== undefined) {
      const [, , , , , to, from] = machine.stdio as unknown as (Socket | undefined)[]
      if (to !== undefined && from !== undefined) port.serve({ in: from, out: to })
    }
    await ended(machine, stop)
    await endGroup(machine)
    await Promise.race([Promise.all(flows), sleep(2000)])
    const status = await readFile(join(runDir, 'status'), 'utf8').catch(() => undefined)
    if (status !== undefined) return { kind: 'exit', code: Number.parseInt(status, 10) }
    throw keelsonError(
      'lab.boot',
      `the ${request.machine} machine stopped before the command finished:\n${lastLines(await readFile(log, 'utf8'), 20)}`,
    )
  } catch (e) {
    if (signal.aborted) return { kind: 'stopped' }
    if (timeout.aborted) return { kind: 'timeout', seconds: request.timeoutS }
    throw e
  } finally {
    await Promise.all(started.map((child) => endGroup(child)))
    for (const server of servers) server.close()
    port?.close()
  }
}

const pipes = (count: number): 'pipe'[] => Array.from({ length: count }, () => 'pipe')

async function flow(source: Socket, target: NodeJS.WritableStream): Promise<void> {
  source.on('error', () => {})
  source.pipe(target, { end: false })
  await finished(source, { writable: false }).catch(() => {})
}

async function listen(path: string, onConnection: (socket: Socket) => void): Promise<Server> {
  const server = createServer(onConnection)
  server.listen(path)
  await once(server, 'listening')
  return server
}

async function appears(path: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    if (
      await stat(path).then(
        () => true,
        () => false,
      )
    )
      return
    await sleep(20, undefined, { signal })
  }
}

async function ended(child: ChildProcess, signal: AbortSignal): Promise<void> {
  try {
    await once(child, 'exit', { signal })
  } catch (e) {
    signal.throwIfAborted()
    throw keelsonError('lab.boot', `start ${child.spawnfile}: ${messageOf(e)}`, {}, e)
  }
}
