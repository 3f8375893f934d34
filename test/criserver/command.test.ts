// `keelson cri` as a process: its socket, its order of starting, its endpoints, its end.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { isKeelsonError } from '../../src/core/errors.js'
import { CgroupDriver } from '../../src/cri-api/api.js'
import { startFakeRuntime } from '../../src/fakes/cri/fake-runtime.js'
import {
  type Bundle,
  bundleCommand,
  freePorts,
  type RunningCommand,
  startCommand,
} from '../support/command.js'

let bundle: Bundle | undefined
let dir = ''
const closers: (() => unknown)[] = []

beforeAll(async () => {
  bundle = await bundleCommand()
  dir = mkdtempSync(join(tmpdir(), 'keelson-cri-command-'))
})
afterAll(async () => {
  await bundle?.remove()
  rmSync(dir, { recursive: true, force: true })
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

function startCri(...flags: string[]): RunningCommand {
  const files = ['--cert-dir', join(dir, 'pki'), '--token-file', join(dir, 'token')]
  const started = startCommand([bundle?.main ?? '', 'cri', ...files, ...flags])
  closers.push(() => started.end('SIGKILL'))
  return started
}

const socket = (name: string): string => join(dir, `${name}.sock`)

function get(port: number, path: string, token?: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const ca = readFileSync(join(dir, 'pki/cri.crt'), 'utf8')
    request({ host: '127.0.0.1', port, path, headers, ca, servername: 'localhost' }, (res) => {
      let text = ''
      res.setEncoding('utf8')
      res.on('data', (part: string) => {
        text += part
      })
      res.on('end', () => resolve({ status: res.statusCode ?? 0, text }))
    })
      .on('error', reject)
      .end()
  })
}

describe('keelson cri', () => {
  test('starts before the runtime, serves it when it comes, and ends on SIGTERM', async () => {
    const [port = 0] = await freePorts(1)
    const up = socket('late')
    const cri = startCri(
      '--runtime-endpoint',
      `unix://${up}`,
      '--listen',
      `unix://${socket('a')}`,
      '--address',
      '127.0.0.1',
      '--port',
      String(port),
      '--cgroup-driver',
      'systemd',
    )
    await cri.says('CRI server started')
    const { mode } = lstatSync(socket('a'))
    assert.equal(mode & 0o777, 0o600)
    const client = createCriClient(`unix://${socket('a')}`)
    closers.push(() => client.close())
    const begun = performance.now()
    const away = await client.runtime.version({}).catch((e: unknown) => e)
    assert.ok(isKeelsonError(away) && away.code === 'runtime.unavailable', String(away))
    assert.ok(performance.now() - begun < 5000)
    await client.runtime.version({}).catch(() => {})
    await cri.says('unreachable')
    const said = cri.output().match(/unreachable; calls are refused with UNAVAILABLE.*ENOENT/g)
    assert.equal(said?.length, 1, cri.output())

    const runtime = await startFakeRuntime(
      { Version: { value: { runtimeName: 'fake', runtimeVersion: '1' } } },
      { socketPath: up },
    )
    closers.push(() => runtime.close())
    assert.equal((await client.runtime.version({})).runtimeName, 'fake')
    await cri.says('the container runtime is reachable again')
    assert.equal((await client.runtime.runtimeConfig({})).linux?.cgroupDriver, CgroupDriver.SYSTEMD)
    await sleep(20)

    assert.equal((await get(port, '/cri/rpcs')).status, 401)
    const token = readFileSync(join(dir, 'token'), 'utf8').trim()
    const { status, text } = await get(port, '/cri/rpcs', token)
    assert.equal(status, 200)
    const table = JSON.parse(text) as { mode: string; rpcs: Record<string, unknown>[] }
    assert.equal(table.mode, 'complete')
    assert.deepEqual(
      table.rpcs.map((r) => [r.rpc, r.forwarded, r.answered, r.missing]),
      [
        ['RuntimeConfig', 0, 1, 1],
        ['Version', 1, 2, 0],
      ],
    )
    const metrics = await get(port, '/metrics', token)
    assert.match(metrics.text, /keelson_cri_calls_total\{rpc="RuntimeConfig",maker="answered",code="0"\} 1/)
    assert.match(metrics.text, /keelson_cri_calls_total\{rpc="Version",maker="forwarded",code="0"\} 1/)
    assert.match(metrics.text, /keelson_cri_clients 1/)
    assert.equal(await cri.end(), 0)
    assert.throws(() => lstatSync(socket('a')), /ENOENT/)
  })

  test('a runtime that is not there is said at once, without a call, and once; and so is its coming', async () => {
    const up = socket('later')
    const flags = ['--runtime-endpoint', `unix://${up}`, '--listen', `unix://${socket('w')}`, '--port', '0']
    const cri = startCri(...flags)
    await cri.says('CRI server started')
    await cri.says('the container runtime is unreachable')
    // Asked again every second meanwhile, and not said each time.
    await sleep(2_500)
    const lines = cri
      .output()
      .split('\n')
      .filter((line) => line.includes('unreachable'))
    assert.equal(lines.length, 1, cri.output())
    assert.ok(lines[0]?.includes(up) && lines[0].includes('no such socket'), lines[0])
    const runtime = await startFakeRuntime({ Version: { value: {} } }, { socketPath: up })
    closers.push(() => runtime.close())
    await cri.says('the container runtime is reachable again')
    await runtime.stop()
    await expect.poll(() => cri.output().split('is unreachable').length - 1).toBe(2)
    assert.equal(await cri.end(), 0)
  })

  test('the log has the address that it really listens on, beside a URL for this machine', async () => {
    const [port = 0] = await freePorts(1)
    const flags = ['--runtime-endpoint', `unix://${socket('none')}`, '--listen', `unix://${socket('l')}`]
    const cri = startCri(...flags, '--port', String(port))
    await cri.says('CRI server started')
    const hexPort = port.toString(16).toUpperCase().padStart(4, '0')
    const listens = /: (\w{8}):(\w{4}) 00000000:0000 0A /g
    const kernel = [...readFileSync('/proc/net/tcp', 'utf8').matchAll(listens)].filter(
      (m) => m[2] === hexPort,
    )
    assert.deepEqual(
      kernel.map((m) => m[1]),
      ['00000000'],
    )
    assert.match(cri.output(), new RegExp(`serving.*0\\.0\\.0\\.0:${port}.*https://127\\.0\\.0\\.1:${port}`))
    assert.equal(await cri.end(), 0)
  })

  test('container metrics on its own port, behind the token, at the address that Status names', async () => {
    const [port = 0] = await freePorts(1)
    const runtime = await startFakeRuntime({
      Version: { value: { runtimeName: 'fake', runtimeVersion: '1' } },
      Status: { value: { info: { config: '{}' } } },
      ListPodSandbox: { value: {} },
      ListContainers: { value: {} },
    })
    closers.push(() => runtime.close())
    const at = ['--listen', `unix://${socket('m')}`, '--address', '127.0.0.1', '--port', String(port)]
    const cri = startCri('--runtime-endpoint', runtime.endpoint, ...at)
    await cri.says('CRI server started')
    const client = createCriClient(`unix://${socket('m')}`)
    closers.push(() => client.close())
    const { info } = await client.runtime.status({ verbose: true })
    const { metricsUrl } = JSON.parse(info.keelson ?? '{}') as { metricsUrl?: string }
    assert.equal(metricsUrl, `https://127.0.0.1:${port}/metrics/cadvisor`)
    const path = new URL(metricsUrl).pathname
    assert.equal((await get(port, path)).status, 401)
    const token = readFileSync(join(dir, 'token'), 'utf8').trim()
    assert.deepEqual(await get(port, path, token), { status: 200, text: '' })
    const { descriptors } = await client.runtime.listMetricDescriptors({})
    assert.ok(descriptors.length > 30, 'declared before the first pod runs')
    await runtime.stop()
    assert.ok((await get(port, path, token)).status >= 500, 'nothing is better than zeros')
  })

  test('an open page of the dashboard does not hold up its end', async () => {
    const [port = 0] = await freePorts(1)
    const at = ['--listen', `unix://${socket('page')}`, '--address', '127.0.0.1', '--port', String(port)]
    const cri = startCri('--runtime-endpoint', `unix://${socket('nobody')}`, ...at)
    await cri.says('CRI server started')
    const headers = { authorization: `Bearer ${readFileSync(join(dir, 'token'), 'utf8').trim()}` }
    const ca = readFileSync(join(dir, 'pki/cri.crt'), 'utf8')
    const page = request({
      host: '127.0.0.1',
      port,
      path: '/live/events',
      headers,
      ca,
      servername: 'localhost',
    })
    const opened = once(page.end(), 'response')
    const [stream] = (await opened) as [IncomingMessage]
    const closed = once(stream.resume(), 'close')
    await once(stream, 'data')
    const begun = performance.now()
    assert.equal(await cri.end(), 0)
    await closed
    // Five seconds is what it would wait for a request.
    assert.ok(performance.now() - begun < 4000, `${performance.now() - begun} ms`)
  })

  test('a socket that somebody answers on is refused and left alone', async () => {
    const runtime = await startFakeRuntime({}, { socketPath: socket('used') })
    closers.push(() => runtime.close())
    const cri = startCri(
      '--runtime-endpoint',
      `unix://${socket('another')}`,
      '--listen',
      `unix://${socket('used')}`,
      '--port',
      '0',
    )
    assert.equal(await cri.ended, 1)
    assert.match(cri.output(), /another process is listening there.*\[server\.listen\]/s)
    assert.ok(lstatSync(socket('used')).isSocket())
  })

  test('a file that is no socket is refused and left alone', async () => {
    writeFileSync(socket('file'), 'precious')
    const cri = startCri('--listen', `unix://${socket('file')}`, '--port', '0')
    assert.equal(await cri.ended, 1)
    assert.equal(readFileSync(socket('file'), 'utf8'), 'precious')
  })

  test('a stale socket is replaced, also the one that a killed server left', async () => {
    const server = createServer().listen(socket('stale'))
    await sleep(50)
    server.close()
    const runtime = await startFakeRuntime({ Version: { value: { runtimeName: 'fake' } } })
    closers.push(() => runtime.close())
    const client = createCriClient(`unix://${socket('stale')}`)
    closers.push(() => client.close())
    for (let i = 0; i < 2; i++) {
      const cri = startCri(
        '--runtime-endpoint',
        runtime.endpoint,
        '--listen',
        `unix://${socket('stale')}`,
        '--port',
        '0',
      )
      await cri.says('CRI server started')
      assert.equal((await client.runtime.version({}, { waitForReady: true })).runtimeName, 'fake')
      await cri.end('SIGKILL')
      assert.ok(lstatSync(socket('stale')).isSocket())
    }
  })

  for (const [name, flags, says] of [
    ['a mode that there is none', ['--mode', 'magic'], /complete or observe.*\[usage\.invalid\]/s],
    ['a driver that there is none', ['--cgroup-driver', 'docker'], /systemd or cgroupfs/],
    ['a port that there is none', ['--port', '99999'], /0 to 65535/],
    [
      'an endpoint that is none',
      ['--runtime-endpoint', 'tcp://x:1'],
      /--runtime-endpoint tcp.*\[usage\.invalid\]/s,
    ],
    [
      'its own upstream',
      ['--listen', 'unix:///run/containerd/containerd.sock'],
      /that is --runtime-endpoint/,
    ],
  ] as const)
    test(`refuses ${name}`, async () => {
      const cri = startCri(...flags)
      assert.notEqual(await cri.ended, 0)
      assert.match(cri.output(), says)
    })

  test('images over an upstream of their own', async () => {
    const runtime = await startFakeRuntime({
      Version: { value: { runtimeName: 'one' } },
      ListImages: { value: {} },
    })
    const images = await startFakeRuntime({ ListImages: { value: { images: [{ id: 'from-two' }] } } })
    closers.push(
      () => runtime.close(),
      () => images.close(),
    )
    const cri = startCri(
      '--runtime-endpoint',
      runtime.endpoint,
      '--image-endpoint',
      images.endpoint,
      '--listen',
      `unix://${socket('img')}`,
      '--port',
      '0',
    )
    await cri.says('CRI server started')
    const client = createCriClient(`unix://${socket('img')}`)
    closers.push(() => client.close())
    assert.equal((await client.runtime.version({})).runtimeName, 'one')
    assert.equal((await client.image.listImages({})).images[0]?.id, 'from-two')
    assert.equal(runtime.callsOf('ListImages').length, 0)
  })
})
