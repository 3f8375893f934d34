// A command in a container on this terminal: keys and the size of the window go there, what it prints comes back, and its exit
// status is ours. Spoken as `v4.channel.k8s.io` over the kubelet's /exec.
import { randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { ReadStream, WriteStream } from 'node:tty'
import { keelsonError, messageOf } from '../../core/errors.js'
import { encodeFrame, MessageReader, type Opcode } from '../../core/kube/websocket-frames.js'
import type { KubeletClient } from './kubelet-client.js'

const channels = { stdin: 0, stdout: 1, stderr: 2, status: 3, resize: 4 } as const

interface TerminalExec {
  readonly namespace: string
  readonly pod: string
  readonly container: string
  readonly command: readonly string[]
  readonly input: ReadStream
  readonly output: WriteStream
}

interface StatusJson {
  readonly status?: string
  readonly message?: string
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] }
}

/** The exit status of the command. */
export async function execOnTerminal(client: KubeletClient, t: TerminalExec): Promise<number> {
  const query = new URLSearchParams(t.command.map((word): [string, string] => ['command', word]))
  for (const key of ['input', 'output', 'tty']) query.set(key, '1')
  const path = `/exec/${t.namespace}/${t.pod}/${t.container}?${query}`
  const socket = await client.webSocket(path, 'v4.channel.k8s.io')
  const { input, output } = t
  const send = (opcode: Opcode, payload: Uint8Array): boolean =>
    socket.write(encodeFrame(opcode, payload, randomBytes(4)))
  const onKeys = (keys: Buffer): void => {
    // A container that does not read stops the keyboard.
    if (send('binary', Buffer.concat([Buffer.of(channels.stdin), keys]))) return
    input.pause()
    socket.once('drain', () => input.resume())
  }
  const onResize = (): void => {
    const size = JSON.stringify({ Width: output.columns, Height: output.rows })
    send('binary', Buffer.concat([Buffer.of(channels.resize), Buffer.from(size)]))
  }
  input.setRawMode(true)
  input.on('data', onKeys)
  output.on('resize', onResize)
  onResize()
  try {
    return await follow(socket, output, send)
  } finally {
    input.off('data', onKeys)
    output.off('resize', onResize)
    input.setRawMode(false)
    input.pause()
    socket.destroy()
  }
}

/** Until the command's status has come, or the connection ends without one. */
async function follow(
  socket: Duplex,
  output: WriteStream,
  send: (opcode: Opcode, payload: Uint8Array) => boolean,
): Promise<number> {
  const reader = new MessageReader()
  try {
    for await (const bytes of socket as AsyncIterable<Uint8Array>)
      for (const { opcode, payload } of reader.push(bytes)) {
        if (opcode === 'ping') send('pong', payload)
        const [channel] = payload
        if (opcode !== 'binary' || channel === undefined) continue
        const content = payload.subarray(1)
        if (channel === channels.status) return exitCodeOf(Buffer.from(content).toString())
        if (channel === channels.stdout || channel === channels.stderr) await written(output, content)
      }
  } catch (e) {
    throw keelsonError('kubelet.no-answer', `the stream to the container broke: ${messageOf(e)}`, {}, e)
  }
  throw keelsonError(
    'kubelet.no-answer',
    'the stream to the container ended without the status of the command',
  )
}

const written = (output: WriteStream, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve) => {
    if (output.write(bytes)) resolve()
    else output.once('drain', resolve)
  })

function exitCodeOf(text: string): number {
  const { status, message, details } = JSON.parse(text) as StatusJson
  if (status === 'Success') return 0
  const code = details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message
  if (code !== undefined && /^\d{1,3}$/.test(code)) return Number(code)
  throw keelsonError('kubelet.refused', `run the command: ${message ?? 'it failed without a reason'}`)
}
