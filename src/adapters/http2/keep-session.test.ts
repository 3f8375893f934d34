import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const here = (path: string): string => new URL(path, import.meta.url).href

/**
 * In a process of its own, because it is Node that ends it. `begin` lets a peer say half a header block and `more`, and calls
 * `said` then; `end` is for the silence after.
 */
const scriptOf = (more: string, begin: string): string => `
  import { once } from 'node:events'
  import { connect, createServer } from 'node:net'
  import { setTimeout as sleep } from 'node:timers/promises'
  const { fieldBlock, frameOf, frameType, headerFrames, onFrames, preface, settingsFrame } =
    await import('${here('../../../test/criserver/frames.ts')}')

  // What it says is read after what the peer has just said, in the same turn of the loop.
  const bells = createServer().listen(0)
  await once(bells, 'listening')
  const ear = connect(bells.address().port).on('data', () => gc())
  const [bell] = await once(bells, 'connection')
  let isSaid = false
  const said = () => {
    bell.write('x')
    isSaid = true
  }
  const half = (...fields) => frameOf(frameType.headers, 0, 1, fieldBlock(...fields))
  const more = Buffer.concat([${more}])

  ${begin}
  while (!isSaid) await sleep(5)
  await sleep(50)
  // Two timers of one turn: what ends in the first is not freed before the second.
  setTimeout(() => {
    end()
    const begun = performance.now()
    while (performance.now() - begun < 20);
  }, 20)
  setTimeout(() => gc(), 21)
  await sleep(100)
  gc()
  console.log('works on')
  process.exit()
`

const peer = `
  const peer = createServer((socket) => {
    socket.on('error', () => {})
    socket.write(Buffer.concat([settingsFrame(), frameOf(frameType.settings, 1, 0)]))
    onFrames(socket, preface.length, ({ type }) => {
      if (type !== frameType.headers) return
      socket.write(Buffer.concat([half(':status', '200'), more]))
      said()
    })
  }).listen(0)
  await once(peer, 'listening')
  const { port } = peer.address()
`
const runtime = (ending: string): string => `${peer}
  const { Connection } = await import('${here('../cri/connection/connection.ts')}')
  const socket = connect(port)
  await once(socket, 'connect')
  let connection = new Connection(socket, '', 10)
  let call = connection.open({ ':method': 'POST', ':path': '/x.Y/Z' }, true)
  const end = () => {
    ${ending}
    connection = call = undefined
  }
`
const probed = `${peer}
  const { grpcHealth } = await import('${here('../probes/grpc-health.ts')}')
  const life = new AbortController()
  grpcHealth({ host: '127.0.0.1', port }, { service: '', userAgent: '' }, 5000, life.signal)
  const end = () => life.abort()
`
const serverFor = `
  const { mkdtempSync, rmSync } = await import('node:fs')
  const { tmpdir } = await import('node:os')
  const { startCriServer } = await import('${here('../cri/server/server.ts')}')
  const dir = mkdtempSync(tmpdir() + '/keelson-kept-')
  process.once('exit', () => rmSync(dir, { recursive: true }))
  let begun
  const isBegun = new Promise((resolve) => (begun = resolve))
  const { socketPath } = await startCriServer({
    listen: 'unix://' + dir + '/cri.sock',
    upstream: 'unix://' + dir + '/none.sock',
    handle: () => new Promise(begun),
    onError: () => {},
  })
`
const client = `${serverFor}
  const socket = connect(socketPath).on('error', () => {})
  const head = fieldBlock(':method', 'POST', ':scheme', 'http', ':path', '/x.Y/Z', ':authority', 'localhost')
  socket.write(Buffer.concat([preface, settingsFrame(), headerFrames(1, head, false)]))
  await isBegun
  await sleep(20)
  socket.write(Buffer.concat([frameOf(frameType.headers, 1, 1, fieldBlock('a', 'b')), more]))
  said()
  const end = () => socket.destroy()
`
const clientAtOnce = `${serverFor}
  const socket = connect(socketPath).on('error', () => {})
  socket.write(Buffer.concat([preface, settingsFrame(), half(':method', 'POST', ':scheme', 'http'), more]))
  await sleep(20)
  said()
  const end = () => socket.destroy()
`

const silence = 'settingsFrame()'
const error = '...Array(200).fill(frameOf(frameType.continuation, 0, 1))'
test.each([
  ['a runtime, and its connection is given up', silence, runtime('connection.destroy()')],
  ['a runtime, and its call is cancelled', silence, runtime('call.cancel(); call.doubtConnection()')],
  ['a runtime, and it breaks a rule', error, runtime('')],
  ['a pod, and the probe of it is given up', silence, probed],
  ['a pod, and it breaks a rule', error, probed],
  ['a client of the CRI server, and it breaks a rule', error, client],
  ['a client in its first call, and it breaks a rule', error, clientAtOnce],
  ['a client in its first call, and it goes away', silence, clientAtOnce],
])('half a header block of %s: Node does not end the process', async (_who, more, begin) => {
  const argv = ['--expose-gc', '--import', 'tsx', '--input-type=module', '--eval', scriptOf(more, begin)]
  const { stdout } = await promisify(execFile)(process.execPath, argv, { timeout: 60_000 })
  expect(stdout).toBe('works on\n')
})
