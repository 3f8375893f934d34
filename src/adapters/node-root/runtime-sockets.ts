// Dials unix sockets and named pipes of a node. Only a connection that is taken counts; a dead socket file does not.
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { basename, dirname } from 'node:path'
import type { RuntimeSockets } from '../../ports/bootstrap.js'
import { resolveInside } from './rooted-path.js'

const dialTimeoutMs = 2_000
/** sun_path without its closing zero. */
const longestAddress = 107

/** The path of `unix:///run/x.sock` and `unix:/run/x.sock`; undefined for other schemes. */
export function socketPathOf(endpoint: string): string | undefined {
  const rest = /^unix:(?:\/\/)?(\/.*)$/.exec(endpoint)?.[1]
  return rest === undefined || rest.includes('\0') ? undefined : rest
}

/** `npipe:////./pipe/containerd-containerd` -> `\\\\.\\pipe\\containerd-containerd`; undefined for other schemes. */
export function pipePathOf(endpoint: string): string | undefined {
  const rest = /^npipe:(?:\/\/)?(\/\/\.\/pipe\/.+)$/.exec(endpoint)?.[1]
  return rest === undefined || rest.includes('\0') ? undefined : rest.replaceAll('/', '\\')
}

type Dialled = 'answers' | 'silent' | 'denied'

const isDenied = (e: unknown): boolean =>
  e instanceof Error && 'code' in e && (e.code === 'EACCES' || e.code === 'EPERM')

const dial = (address: string): Promise<Dialled> =>
  new Promise((resolve) => {
    const socket = createConnection({ path: address })
    const end = (answer: Dialled) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(answer)
    }
    const timer = setTimeout(() => end('silent'), dialTimeoutMs)
    socket.once('connect', () => end('answers'))
    socket.once('error', (e) => end(isDenied(e) ? 'denied' : 'silent'))
  })

/** A path below a deep root may not fit into a socket address; the way through an open directory always does. */
export async function withSocketAddress<T>(path: string, use: (address: string) => Promise<T>): Promise<T> {
  if (Buffer.byteLength(path) <= longestAddress) return use(path)
  const directory: FileHandle = await open(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    return await use(`/proc/self/fd/${directory.fd}/${basename(path)}`)
  } finally {
    await directory.close()
  }
}

/** `placeOfPipe`: where a pipe is on this system; other systems than Windows have none. */
export function createRuntimeSockets(
  root: string,
  placeOfPipe: (pipe: string) => string = (pipe) => pipe,
): RuntimeSockets {
  async function ask(endpoint: string): Promise<Dialled> {
    const pipe = pipePathOf(endpoint)
    if (pipe !== undefined) return dial(placeOfPipe(pipe))
    const path = socketPathOf(endpoint)
    if (path === undefined) return 'silent'
    try {
      const { outside, exists } = await resolveInside(root, path)
      return exists ? await withSocketAddress(outside, dial) : 'silent'
    } catch (e) {
      return isDenied(e) ? 'denied' : 'silent'
    }
  }
  return {
    answers: async (endpoint) => (await ask(endpoint)) === 'answers',
    isDenied: async (endpoint) => (await ask(endpoint)) === 'denied',
  }
}
