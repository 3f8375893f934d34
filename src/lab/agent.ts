// The lab's helper processes, one file with three lives: `supervise` a run for a `lab run` that may be killed, `inside`
// a machine before the command, and `guard` a private containerd on the host.
import { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { asKeelsonError } from '../core/errors.js'
import { cleanContainerd } from './containerd/clean.js'
import { runInside } from './inside.js'
import type { GuestContainerd, LabRequest } from './machine.js'
import { supervise } from './supervisor.js'
import { createWindowSizes, parseWindowSize } from './window.js'

const channel = 3

/**
 * The first line on the channel is the request, others are sizes of the caller's terminal; its end, at any time, means
 * that the caller is gone.
 */
async function superviseForParent(): Promise<void> {
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => stop.abort())
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => stop.abort())
  const windowSizes = createWindowSizes()
  const parent = new Socket({ fd: channel, readable: true, writable: true })
  const request = await new Promise<LabRequest | undefined>((resolve) => {
    let text = ''
    let isFirst = true
    parent.on('data', (data: Buffer) => {
      const lines = (text + data.toString()).split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) {
        const size = isFirst ? undefined : parseWindowSize(line)
        if (isFirst) resolve(JSON.parse(line) as LabRequest)
        if (size !== undefined) windowSizes.put(size)
        isFirst = false
      }
    })
    for (const event of ['end', 'error'])
      parent.on(event, () => {
        stop.abort()
        resolve(undefined)
      })
  })
  if (request === undefined) process.exit(1)
  const io = {
    stdout: process.stdout,
    stderr: process.stderr,
    agentFile: fileURLToPath(import.meta.url),
    env: process.env,
    windowSizes,
  }
  const answer = await supervise(request, io, stop.signal).catch((e: unknown) => {
    const { code, message, details } = asKeelsonError(e)
    return { kind: 'error' as const, code, message, details }
  })
  parent.write(`${JSON.stringify(answer)}\n`, () => process.exit(0))
}

/** Ends when the parent closes the channel; by then a parent that closed in order has removed everything itself. */
function guard(dir: string): void {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {})
  process.on('disconnect', () => {
    cleanContainerd(dir).then(
      () => process.exit(0),
      () => process.exit(1),
    )
  })
  process.send?.('ready')
}

const [life, first = '', ...rest] = process.argv.slice(2)
switch (life) {
  case 'supervise':
    await superviseForParent()
    break
  case 'inside':
    process.exit(
      await runInside(JSON.parse(first) as GuestContainerd, rest).catch((e: unknown) => {
        const { code, message } = asKeelsonError(e)
        process.stderr.write(`keelson lab: inside the machine: ${message} [${code}]\n`)
        return 1
      }),
    )
    break
  case 'guard':
    guard(first)
    break
  default:
    process.stderr.write('this file is started by keelson lab\n')
    process.exit(2)
}
