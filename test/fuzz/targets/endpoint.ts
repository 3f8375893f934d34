// Endpoints of runtimes: what is accepted is one path that can be dialled, and its own spelling reads as the same one.
import { parseEndpoint } from '../../../src/adapters/cri/endpoint.js'
import { mutateText, type Random } from '../random.js'
import { check, type FuzzTarget } from '../types.js'

const seeds = [
  'unix:///run/containerd/containerd.sock',
  'unix:/run/x.sock',
  '/run/x.sock',
  'npipe:////./pipe/containerd-containerd',
  'npipe://./pipe/x',
  '\\\\.\\pipe\\x',
  'tcp://127.0.0.1:1',
] as const

export const endpoint: FuzzTarget = {
  name: 'endpoint',
  generate: (random: Random) => ({
    text: mutateText(random.pick(seeds), random),
    platform: random.pick(['linux', 'win32'] as const),
  }),
  run(input) {
    const { text, platform } = input as { readonly text: string; readonly platform: 'linux' | 'win32' }
    const { socketPath, canonical } = parseEndpoint(text, platform)
    const begin = platform === 'win32' ? '\\\\.\\pipe\\' : '/'
    check(socketPath.startsWith(begin), `${socketPath} is not below ${begin}`)
    check(!socketPath.includes('\0'), 'the path holds a zero byte')
    check(parseEndpoint(canonical, platform).socketPath === socketPath, `${canonical} reads as another path`)
  },
}
