// Probes, hooks and containers that do not behave, on a real node: each is bounded and reported in the kubelet's words, pods that
// behave go on, and /healthz answers in time throughout.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer, get } from 'node:http'
import { request } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { forever, shell, until } from '../kubelet/node.js'
import { endPods, running, stateOf, useNode } from '../kubelet/use-node.js'
import { processorWaitMs } from '../support/processor-wait.js'
import { missingRequirement } from '../support/requirements.js'

const node = useNode()
const address = '127.0.0.1'
const latencies: number[] = []
const servers: Server[] = []
let isOver = false
let sampling: Promise<void> = Promise.resolve()

/** One request on a connection of its own, without the time in which others had the processor. */
async function askHealth(): Promise<number> {
  const waited = (): number => processorWaitMs(node().pid) + processorWaitMs('self')
  const [from, before] = [performance.now(), waited()]
  const outgoing = get({ host: address, port: node().healthPort, path: '/healthz', agent: false })
  const [answer] = await once(outgoing, 'response')
  answer.resume()
  await once(answer, 'end')
  expect(answer.statusCode).toBe(200)
  return Math.max(0, performance.now() - from - (waited() - before))
}

async function sample(): Promise<void> {
  while (!isOver) {
    latencies.push(await askHealth().catch(() => 10_000))
    await sleep(20)
  }
}

async function listen(server: Server): Promise<number> {
  servers.push(server)
  server.listen(0, address)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

const needs = { root: true, packages: ['containerd', 'images'] } as const
beforeAll(async () => {
  if (missingRequirement(needs) === undefined) sampling = sample()
})
afterAll(async () => {
  isOver = true
  await sampling
  for (const server of servers) server.close()
})

/** Until the log of the kubelet, which has the events of a standalone one, has the text. */
async function logged(what: RegExp, timeoutMs = 30_000): Promise<void> {
  const events = (): string[] =>
    node()
      .log()
      .split('\n')
      .filter((line) => /probe|hook/i.test(line))
  await expect.poll(() => events().slice(-20).join('\n'), { timeout: timeoutMs }).toMatch(what)
}
const restartsOf = async (pod: string): Promise<number> =>
  (await stateOf(node(), pod, 'app'))?.restartCount ?? 0
const residentMiB = (): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${node().pid}/status`, 'utf8'))?.[1]) / 1024
/** Each second; `more` is the action. */
const probe = (more: object): object => ({
  periodSeconds: 1,
  timeoutSeconds: 1,
  failureThreshold: 2,
  ...more,
})
const quick = { terminationGracePeriodSeconds: 1 }

describe('probes', () => {
  test('POD-130 endless output of commands: cut off, the container is restarted, memory stays bounded', async () => {
    const endless = {
      yes: ['yes'],
      // Ends in time, with more than fits into a message of the runtime.
      long: ['sh', '-c', 'dd if=/dev/zero bs=1M count=64; exit 1'],
    }
    for (const [name, command] of Object.entries(endless))
      await node().pod(name, {
        ...quick,
        containers: [
          shell('app', forever, { livenessProbe: probe({ exec: { command }, timeoutSeconds: 2 }) }),
        ],
      })
    await logged(/Liveness probe failed: command timed out: \\?"yes\\?" timed out after 2s/)
    await until('yes is restarted', async () => (await restartsOf('yes')) > 0, 60_000)
    // A message that is too large says nothing about the container; a slow machine is over the timeout before.
    await logged(
      /Liveness probe (errored and resulted in unknown state|failed): .*pod="default\/long-node-1"/,
    )
    expect(residentMiB()).toBeLessThan(400)
    await endPods(node(), ...Object.keys(endless))
  })

  test('POD-131 an endless body is read to its bound and counts by its status', async () => {
    let asked = 0
    const server = createServer((_, response) => {
      asked += 1
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(4_096)));
      }
      response.on('drain', more)
      more()
    })
    const port = await listen(server)
    const httpGet = { host: address, port, path: '/endless' }
    await node().pod('body', {
      ...quick,
      containers: [
        shell('app', forever, { readinessProbe: probe({ httpGet }), livenessProbe: probe({ httpGet }) }),
      ],
    })
    await running(node(), 'body')
    const before = asked
    await until('it was probed again', () => asked > before + 2)
    expect(await restartsOf('body')).toBe(0)
    const { body: metrics } = await node().ask('/metrics/probes')
    for (const type of ['Readiness', 'Liveness'])
      expect(metrics).toMatch(
        new RegExp(
          `^prober_probe_total\\{probe_type="${type}",.*pod="body-node-1".*result="successful"\\} [1-9]`,
          'm',
        ),
      )
    await endPods(node(), 'body')
  })

  test('POD-132 servers and commands that never answer: each probe ends after its timeout', async () => {
    const silent = await listen(createTcpServer((socket) => socket.on('error', () => undefined)))
    const actions = {
      'silent-http': { httpGet: { host: address, port: silent, path: '/' } },
      'silent-exec': { exec: { command: ['sleep', '1000'] } },
    }
    for (const [name, action] of Object.entries(actions))
      await node().pod(name, {
        ...quick,
        containers: [shell('app', forever, { livenessProbe: probe(action) })],
      })
    // A port that takes connections and says nothing, at the address of the pod.
    const grpc = shell('app', 'while :; do nc -l -p 9000 > /dev/null; done', {
      livenessProbe: probe({ grpc: { port: 9000 } }),
    })
    await node().pod('silent-grpc', { ...quick, containers: [grpc] })
    await logged(
      /Liveness probe failed: Get .*context deadline exceeded \(Client\.Timeout exceeded while awaiting headers\)/,
    )
    await logged(/Liveness probe failed: command timed out: \\?"sleep 1000\\?" timed out after 1s/)
    await logged(/Liveness probe failed: (timeout|error): failed to connect service/)
    const names = [...Object.keys(actions), 'silent-grpc']
    for (const name of names)
      await until(`${name} is restarted`, async () => (await restartsOf(name)) > 0, 60_000)
    await endPods(node(), ...names)
  })

  test('POD-133 a redirect to another host is not followed, and is a warning', async () => {
    const port = await listen(
      createServer((_, response) =>
        response.writeHead(302, { location: 'http://192.0.2.7:1/elsewhere' }).end(),
      ),
    )
    const httpGet = { host: address, port, path: '/' }
    await node().pod('redirect', {
      ...quick,
      containers: [shell('app', forever, { readinessProbe: probe({ httpGet }) })],
    })
    await running(node(), 'redirect')
    await logged(/Readiness probe warning: Probe terminated redirects.*ProbeWarning/)
    await endPods(node(), 'redirect')
  })

  test('POD-134 a port name that does not exist is reported and restarts nothing', async () => {
    await node().pod('noport', {
      ...quick,
      containers: [
        shell('app', forever, { livenessProbe: probe({ httpGet: { port: 'nowhere', path: '/' } }) }),
      ],
    })
    await logged(/Liveness probe errored and resulted in unknown state: port \\?"nowhere\\?" not found/)
    await sleep(4_000)
    expect(await restartsOf('noport')).toBe(0)
    await endPods(node(), 'noport')
  })
})

describe('hooks and ends', () => {
  const hang = ['sh', '-c', 'sleep 1000 & sleep 1000 & sleep 1000']

  test('POD-135 hooks that fork and hang end with their pod, within its grace period', async () => {
    await node().pod('hooks', {
      terminationGracePeriodSeconds: 3,
      containers: [shell('app', forever, { lifecycle: { preStop: { exec: { command: hang } } } })],
    })
    await node().pod('begins', {
      terminationGracePeriodSeconds: 3,
      containers: [shell('app', forever, { lifecycle: { postStart: { exec: { command: hang } } } })],
    })
    await running(node(), 'hooks')
    await until('a container of begins', async () => (await node().containers('begins')).length > 0)
    const from = performance.now()
    await endPods(node(), 'hooks', 'begins')
    // The grace period, two seconds that a container has at least, and the work of the runtime.
    expect(performance.now() - from).toBeLessThan(20_000)
    await logged(/FailedPreStopHook/)
  })

  test('POD-136 a container that ignores SIGTERM is killed after its grace period, and exec into it ends with it', async () => {
    await node().pod('deaf', {
      terminationGracePeriodSeconds: 5,
      containers: [shell('app', 'trap "" TERM; while :; do sleep 0.1; done')],
    })
    await running(node(), 'deaf')
    const from = performance.now()
    await node().removeManifest('deaf.yaml')
    await sleep(1_000)
    const status = await execUntilClosed('deaf')
    expect(status).toBe(101)
    expect(performance.now() - from).toBeGreaterThan(3_000)
    await until('the pod has gone', async () => (await node().sandboxes('deaf')).length === 0, 30_000)
    expect(performance.now() - from).toBeLessThan(30_000)
    // Once it has gone, exec is refused at once.
    const after = performance.now()
    expect(await execUntilClosed('deaf')).toBe(404)
    expect(performance.now() - after).toBeLessThan(5_000)
  })

  /** As kubectl does it, over a WebSocket. The status of the answer, once the stream has ended. */
  async function execUntilClosed(pod: string): Promise<number> {
    const token = (await readFile(node().tokenFile, 'utf8')).trim()
    const outgoing = request({
      host: address,
      port: node().serverPort,
      path: `/exec/default/${pod}-node-1/app?command=sleep&command=1000&output=1&error=1`,
      rejectUnauthorized: false,
      agent: false,
      headers: {
        authorization: `Bearer ${token}`,
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': randomBytes(16).toString('base64'),
        'sec-websocket-protocol': 'v4.channel.k8s.io',
      },
    })
    return await new Promise((resolve, reject) => {
      outgoing.on('error', reject)
      outgoing.on('upgrade', (answer, socket) => {
        socket.on('error', () => undefined)
        socket.resume().on('close', () => resolve(answer.statusCode ?? 0))
      })
      outgoing.on('response', (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode ?? 0))
      })
      outgoing.end()
    })
  }
})

test('POD-137 /healthz answered within 100 ms at p99 while all of that went on', () => {
  const sorted = latencies.toSorted((a, b) => a - b)
  const p99 = sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN
  console.log(
    `/healthz: ${sorted.length} requests, p50 ${sorted[sorted.length >> 1]?.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, slowest ${sorted.at(-1)?.toFixed(1)} ms; ${residentMiB().toFixed(0)} MiB resident`,
  )
  expect(sorted.length).toBeGreaterThan(500)
  expect(p99).toBeLessThan(100)
})
