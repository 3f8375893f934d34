// node least.mjs DIRECTORY: the least that a kubelet on Node does before it is healthy, without its program: a server with the
// certificate from the directory, one for its health, and the modules for a call to the runtime, which is left out.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createHealthServer } from 'node:http'
import 'node:http2'
import { createServer } from 'node:https'
import { join } from 'node:path'

const [cert, key] = ['certificate', 'key'].map((name) => readFileSync(join(process.argv[2] ?? '', name)))
for (const server of [createServer({ cert, key }), createHealthServer()]) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
}
process.exit(0)
