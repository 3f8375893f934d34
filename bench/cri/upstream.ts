// The scripted runtime of the benchmark, in a process of its own: large lists, a stream of small messages, and commands
// with much output. Prints its socket when it is ready; ends with its parent's pipe.
import { ExecSyncResponse, ListContainersResponse } from '../../src/cri-api/api.js'
import { complete } from '../../src/cri-api/complete.js'
import { startFakeRuntime } from '../../src/fakes/cri/fake-runtime.js'
import { manyContainers } from '../../src/fakes/cri/shapes.js'
import { frame } from '../../test/criserver/raw-client.js'

const encoded = (count: number): Uint8Array =>
  ListContainersResponse.encode(
    complete(ListContainersResponse, { containers: manyContainers(count) }),
  ).finish()
const lists = new Map([10, 1000, 10_000].map((n) => [String(n), encoded(n)]))
const output = Buffer.alloc(16 * 1024 * 1024 - 1024, 'x')
/** One buffer for all callers: what is measured is the server's memory, and this process should not be short of its own. */
const executed = frame(
  ExecSyncResponse.encode(complete(ExecSyncResponse, { stdout: output, exitCode: 0 })).finish(),
)
const event = { containerId: 'c'.repeat(64), createdAt: 1n }

function* events(count: number): Generator<typeof event> {
  for (let i = 0; i < count; i++) yield event
}

const runtime = await startFakeRuntime({
  Version: {
    value: { version: '0.1.0', runtimeName: 'scripted', runtimeVersion: '1', runtimeApiVersion: 'v1' },
  },
  ListContainers: ({ filter }) => ({ bytes: lists.get(filter?.id ?? '') ?? new Uint8Array() }),
  ExecSync: { body: executed },
  // The first list of messages is for counting; the memory part only wants streams that stay open.
  GetContainerEvents: (_request, { nth }) =>
    nth < streamsThatCount ? { values: events(messages) } : { values: events(3), ending: 'hang' },
})
const [, , streams = '0', count = '0'] = process.argv
const streamsThatCount = Number(streams)
const messages = Number(count)
process.stdout.write(`${runtime.endpoint}\n`)
process.stdin.resume().on('end', () => {
  runtime.close().then(
    () => process.exit(0),
    () => process.exit(1),
  )
})
