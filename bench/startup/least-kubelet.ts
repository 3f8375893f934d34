// node start-least-kubelet.mjs DIRECTORY: the least that a kubelet on Node does before it is healthy, and no other code: it reads its
// settings, asks the runtime for its version and its cgroup driver, and serves, with the YAML library and the CRI client of Keelson.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createHealthServer } from 'node:http'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { parse } from 'yaml'
import { createCriClient } from '../../src/adapters/cri/client/client.js'

const inDirectory = (name: string): string => join(process.argv[2] ?? '', name)
const { containerRuntimeEndpoint } = parse(readFileSync(inDirectory('kubelet.yaml'), 'utf8')) as {
  containerRuntimeEndpoint: string
}
const { runtime } = createCriClient(containerRuntimeEndpoint)
await runtime.version({})
await runtime.runtimeConfig({})
const [cert, key] = ['certificate', 'key'].map((name) => readFileSync(inDirectory(name)))
for (const server of [createServer({ cert, key }), createHealthServer()]) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
}
