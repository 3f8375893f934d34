// The D-Bus adapter against a real dbus-daemon with a small systemd1 service on it.
import { readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, type TestContext, test } from 'vitest'
import { systemdInfinity, systemdProperties } from '../../core/cgroup/systemd-properties.js'
import { PrivateBus } from '../../fakes/private-bus.js'
import { FakeSystemdService } from '../../fakes/systemd-service.js'
import { SystemdManager } from './manager.js'

let bus: PrivateBus | undefined
let service: FakeSystemdService | undefined
let systemd: SystemdManager | undefined

beforeEach(async () => {
  bus = await PrivateBus.start()
  if (bus === undefined) return
  service = await FakeSystemdService.start(bus.address)
  systemd = new SystemdManager({ address: bus.address, timeoutMs: 3_000 })
})
afterEach(async () => {
  await systemd?.close()
  service?.close()
  await bus?.close()
})

function parts(ctx: TestContext) {
  if (bus === undefined || service === undefined || systemd === undefined) {
    if (process.env.CI === 'true') expect.fail('dbus-daemon is missing (Debian package dbus)')
    return ctx.skip('dbus-daemon is missing (Debian package dbus)')
  }
  return { bus, service, systemd }
}

const took = async (work: Promise<unknown>): Promise<{ error: unknown; ms: number }> => {
  const start = performance.now()
  const error = await work.then(
    () => undefined,
    (e: unknown) => e,
  )
  return { error, ms: performance.now() - start }
}

const openSockets = (): number => readdirSync('/proc/self/fd').length

describe('units', () => {
  test('start, read, change and stop a slice', async (ctx) => {
    const { systemd, service } = parts(ctx)
    const properties = systemdProperties({
      'memory.min': '4096',
      'memory.high': 'max',
      'cpu.max': '50000 100000',
    })
    expect(await systemd.startTransientUnit('a.slice', properties)).toBe('started')
    expect(await systemd.startTransientUnit('a.slice', properties)).toBe('existed')
    expect(await systemd.unitProperty('a.slice', 'Slice', 'MemoryHigh')).toEqual({
      type: 't',
      value: systemdInfinity,
    })
    expect(await systemd.unitProperty('a.slice', 'Slice', 'MemoryMin')).toEqual({ type: 't', value: 4096n })
    await systemd.setUnitProperties('a.slice', systemdProperties({ 'memory.min': '0' }))
    expect(await systemd.unitProperty('a.slice', 'Slice', 'MemoryMin')).toEqual({ type: 't', value: 0n })
    expect(await systemd.stopUnit('a.slice')).toBe('stopped')
    expect(await systemd.stopUnit('a.slice')).toBe('absent')
    expect(await systemd.unitProperty('a.slice', 'Slice', 'MemoryMin')).toBeUndefined()
    expect(await systemd.version()).toBe('252 (fake)')
    expect(service.units.size).toBe(0)
  })

  test('a loaded unit that is not active is started', async (ctx) => {
    const { systemd, service } = parts(ctx)
    await systemd.startTransientUnit('a.slice', [])
    const unit = service.units.get('a.slice')
    if (unit !== undefined) unit.active = false
    expect(await systemd.startTransientUnit('a.slice', [])).toBe('existed')
    expect(unit?.active).toBe(true)
  })

  test('the end of a job that is told before the reply is not missed', async (ctx) => {
    const { systemd, service } = parts(ctx)
    service.fault('StartTransientUnit', { kind: 'job-first' })
    for (let i = 0; i < 50; i++) expect(await systemd.startTransientUnit(`a${i}.slice`, [])).toBe('started')
  })

  test('many at once on one connection', async (ctx) => {
    const { systemd, service } = parts(ctx)
    const names = Array.from({ length: 100 }, (_, i) => `a${i}.slice`)
    await Promise.all(names.map((name) => systemd.startTransientUnit(name, [])))
    expect(service.units.size).toBe(100)
    expect(service.calls.filter((call) => call === 'Subscribe').length).toBe(1)
  })
})

describe('faults', () => {
  for (const { name, method, fault, code, message } of [
    {
      name: 'a refusal',
      method: 'SetUnitProperties',
      fault: { kind: 'error', name: 'org.freedesktop.DBus.Error.InvalidArgs', text: 'bad value' },
      code: 'systemd.failed',
      message: /bad value/,
    },
    {
      name: 'no permission',
      method: 'SetUnitProperties',
      fault: { kind: 'error', name: 'org.freedesktop.DBus.Error.AccessDenied', text: 'no' },
      code: 'systemd.failed',
      message: /run as root/,
    },
    {
      name: 'a silent manager',
      method: 'SetUnitProperties',
      fault: { kind: 'hang' },
      code: 'systemd.unavailable',
      message: /300 ms/,
    },
    {
      name: 'a job that fails',
      method: 'StartTransientUnit',
      fault: { kind: 'job', result: 'failed' },
      code: 'systemd.failed',
      message: /job result is failed/,
    },
    {
      name: 'a job whose end is never told',
      method: 'StartTransientUnit',
      fault: { kind: 'lost-job' },
      code: 'systemd.unavailable',
      message: /300 ms/,
    },
  ] as const)
    test(`${name} ends in ${code} within the deadline, and the next call works`, async (ctx) => {
      const { systemd, service } = parts(ctx)
      await systemd.startTransientUnit('a.slice', [])
      service.fault(method, fault)
      const call =
        method === 'SetUnitProperties'
          ? systemd.setUnitProperties('a.slice', [], { timeoutMs: 300 })
          : systemd.startTransientUnit('b.slice', [], { timeoutMs: 300 })
      const { error, ms } = await took(call)
      expect(error).toMatchObject({ code, message: expect.stringMatching(message) })
      expect(ms).toBeLessThan(2_500)
      service.fault(method, undefined)
      await systemd.setUnitProperties('a.slice', [])
    })

  test('a unit that is not loaded', async (ctx) => {
    const { systemd } = parts(ctx)
    await expect(systemd.setUnitProperties('none.slice', [])).rejects.toMatchObject({
      code: 'systemd.failed',
      details: { dbusError: 'org.freedesktop.systemd1.NoSuchUnit' },
    })
  })

  test('the caller gives up: its own reason, at once', async (ctx) => {
    const { systemd, service } = parts(ctx)
    service.fault('StopUnit', { kind: 'hang' })
    await systemd.startTransientUnit('a.slice', [])
    const stop = new AbortController()
    setTimeout(() => stop.abort(new Error('enough')), 50)
    const { error, ms } = await took(systemd.stopUnit('a.slice', { signal: stop.signal }))
    expect(error).toMatchObject({ message: 'enough' })
    expect(ms).toBeLessThan(2_500)
  })

  test('no manager on the bus', async (ctx) => {
    const { systemd, service } = parts(ctx)
    service.close()
    await expect(systemd.version()).rejects.toMatchObject({ code: 'systemd.unavailable' })
  })

  test('no bus at all', async () => {
    const none = new SystemdManager({ address: 'unix:path=/nonexistent/bus', timeoutMs: 1_000 })
    await expect(none.version()).rejects.toMatchObject({
      code: 'systemd.unavailable',
      message: expect.stringContaining('/nonexistent/bus'),
    })
    await none.close()
  })

  test('a socket that takes the connection and says nothing, or garbage', async () => {
    for (const greeting of ['', 'HTTP/1.1 400 Bad Request\r\n\r\n']) {
      const path = join(tmpdir(), `keelson-mute-${process.pid}.sock`)
      const server = createServer((socket) => {
        socket.on('error', () => undefined)
        socket.resume()
        if (greeting !== '') socket.write(greeting)
      })
      await new Promise<void>((done) => server.listen(path, done))
      const manager = new SystemdManager({ address: `unix:path=${path}`, timeoutMs: 300 })
      const { error, ms } = await took(manager.version())
      expect(error).toMatchObject({ code: 'systemd.unavailable' })
      expect(ms).toBeLessThan(2_500)
      await manager.close()
      await new Promise((done) => server.close(done))
      rmSync(path, { force: true })
    }
  })
})

describe('survival', () => {
  test('reload: listeners hear its end, the connection stays', async (ctx) => {
    const { systemd, service } = parts(ctx)
    await systemd.version()
    const reloaded = new Promise<void>((resolve) => systemd.onReloaded(resolve))
    await systemd.reload()
    await reloaded
    await systemd.startTransientUnit('a.slice', [])
    expect(service.calls.filter((call) => call === 'Subscribe').length).toBe(1)
  })

  test('a bus that dies and comes back is dialled again, by calls and for listeners', async (ctx) => {
    const { systemd, bus } = parts(ctx)
    let told = 0
    systemd.onReloaded(() => told++)
    for (let round = 0; round < 3; round++) {
      await systemd.version()
      await bus.kill()
      await expect(systemd.version()).rejects.toMatchObject({ code: 'systemd.unavailable' })
      await bus.launch()
      service?.close()
      service = await FakeSystemdService.start(bus.address)
      expect(await systemd.version()).toBe('252 (fake)')
    }
    await expect.poll(() => told, { timeout: 5_000 }).toBeGreaterThan(0)
  })

  test('a call under way when the bus dies ends at once', async (ctx) => {
    const { systemd, service, bus } = parts(ctx)
    await systemd.version()
    service.fault('Get', { kind: 'hang' })
    const call = took(systemd.version({ timeoutMs: 20_000 }))
    await new Promise((done) => setTimeout(done, 50))
    await bus.kill()
    const { error, ms } = await call
    expect(error).toMatchObject({ code: 'systemd.unavailable' })
    expect(ms).toBeLessThan(10_000)
  })

  test('descriptors are flat over timeouts and closing', async (ctx) => {
    const { service, bus } = parts(ctx)
    service.fault('Get', { kind: 'hang' })
    const before = openSockets()
    for (let i = 0; i < 20; i++) {
      const manager = new SystemdManager({ address: bus.address, timeoutMs: 40 })
      await expect(manager.version()).rejects.toMatchObject({ code: 'systemd.unavailable' })
      await manager.close()
    }
    await expect.poll(openSockets).toBeLessThanOrEqual(before + 1)
  })
})
