// `keelson get pods -w` as a process, against a real HTTPS server with pods that change.
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { textAnswer } from '../../src/serve/failures.js'
import { startHere } from '../serve/here.js'
import { type Bundle, bundleCommand, startCommand } from '../support/command.js'

let bundle: Bundle
beforeAll(async () => {
  bundle = await bundleCommand()
})
afterAll(() => bundle.remove())

const pod = (name: string, phase: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', uid: name, creationTimestamp: null },
  spec: { nodeName: 'node-1', containers: [{ name: 'app' }] },
  status: { phase, containerStatuses: [], conditions: [], startTime: null },
})

/** Where each column begins. */
const starts = (line: string): number[] => [...line.matchAll(/(?<=^|\s{3})\S/g)].map((m) => m.index)

test('get pods -w: the header is aligned with the rows', async () => {
  let items = [pod('a-name-far-longer-than-its-title-node-1', 'Running'), pod('short-node-1', 'Pending')]
  const server = await startHere({
    endpoints: [
      {
        name: 'pods',
        path: '/pods',
        methods: ['GET'],
        handle: () => textAnswer(JSON.stringify({ kind: 'PodList', items })),
      },
    ],
  })
  const watch = startCommand([
    bundle.main,
    ...['get', 'pods', '-w', '--server', server.url],
    ...['--token-file', join(server.directory, 'token')],
    ...['--certificate', join(server.directory, 'pki/kubelet.crt')],
  ])
  try {
    await watch.says(/short-node-1 +.*Pending/)
    items = items.map((p) => ({ ...p, status: { ...p.status, phase: 'Succeeded' } }))
    await watch.says(/short-node-1 +.*Succeeded/)
    const lines = watch.output().trimEnd().split('\n')
    expect(lines[0]).toMatch(/^NAMESPACE +NAME +READY/)
    expect(lines.length).toBeGreaterThanOrEqual(5)
    let header = ''
    for (const line of lines)
      if (line.startsWith('NAMESPACE')) header = line
      else expect(starts(line)).toEqual(starts(header))
  } finally {
    await watch.end('SIGINT')
    await server.end()
  }
})
