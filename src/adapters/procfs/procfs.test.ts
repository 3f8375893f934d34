// Readers on captured trees (test/fixtures/procfs, each with its ORIGIN.md) and on the machine itself.
import { connect, createServer } from 'node:net'
import { arch } from 'node:os'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { decideCgroupLayout } from '../../core/cgroup/layout.js'
import { createProcfs } from './procfs.js'

const fixture = (name: string) => {
  const root = resolve(import.meta.dirname, '../../../test/fixtures/procfs', name)
  return createProcfs({ proc: `${root}/proc`, sys: `${root}/sys` })
}

describe('captured: Linux 6.18, hybrid', () => {
  const proc = fixture('hybrid-6.18')
  test('machine', () => {
    expect(proc.cpuInfo()).toEqual({
      processors: 2,
      cores: 2,
      sockets: 1,
      modelName: 'AMD EPYC',
      vendorId: 'AuthenticAMD',
      mhz: 2596.14,
    })
    expect(proc.memInfo().get('MemTotal')).toBe(24684100n * 1024n)
    expect(proc.stat().total.user).toBeGreaterThan(46_000n)
    expect(proc.stat().perCpu.size).toBe(2)
    expect(proc.stat().bootTimeSeconds).toBe(1794728592n)
    expect(proc.osRelease()).toBe('6.18.44-fc-v490')
    expect(proc.pidLimits()).toEqual({ pidMax: 32768n, threadsMax: 192699n })
    expect(proc.pageSize()).toBe(4096n)
  })
  test('devices and pressure', () => {
    expect(proc.diskStats().find((d) => d.name === 'vda')).toMatchObject({ majorMinor: '254:0' })
    expect(proc.deviceName('254:0')).toBe('vda')
    expect(proc.deviceName('254:1')).toBeUndefined()
    expect(proc.deviceName('../../x')).toBeUndefined()
    expect(proc.pressure('cpu')?.some.avg10).toBe(16.53)
    expect(proc.pressure('io')?.full?.totalMicros).toBe(8417207n)
  })
  test('mounts and processes', () => {
    expect(decideCgroupLayout(proc.mountInfo() ?? []).mode).toBe('hybrid')
    expect(proc.cgroupOf(1)?.controllers.get('memory')).toBe('/kubepods/pod1')
    expect(proc.netDev(1)?.find((d) => d.name === 'eth0')?.rxBytes).toBe(1178563512n)
    expect(proc.maxOpenFiles(1)).toBe(32768n)
  })
})

describe('captured: user-mode Linux 6.1, v2', () => {
  const proc = fixture('uml-6.1-v2')
  test('what it lacks is absent', () => {
    expect(proc.cpuInfo()).toMatchObject({
      processors: 1,
      cores: 1,
      sockets: 1,
      modelName: 'UML',
      mhz: undefined,
    })
    expect(proc.pressure('memory')).toBeUndefined()
    expect(proc.diskStats()).toEqual([])
    expect(proc.cgroupOf(1)).toEqual({ unified: '/system', controllers: new Map() })
    expect(decideCgroupLayout(proc.mountInfo() ?? [])).toMatchObject({
      mode: 'v2',
      unified: '/sys/fs/cgroup',
    })
    expect(proc.pageSize()).toBe(4096n)
  })
})

describe('this machine', () => {
  const proc = createProcfs()
  test('reads itself', () => {
    expect(proc.cpuInfo().processors).toBeGreaterThan(0)
    expect(proc.memInfo().get('MemTotal')).toBeGreaterThan(0n)
    expect(proc.netDev(process.pid)?.map((d) => d.name)).toContain('lo')
    expect(proc.mountInfo(process.pid)?.some((m) => m.mountPoint === '/')).toBe(true)
    expect(proc.cgroupOf(process.pid)).toBeDefined()
    if (arch() === 'x64') expect(proc.pageSize()).toBe(4096n)
  })

  test('counts descriptors and sockets', async () => {
    const before = proc.openFiles(process.pid)
    const server = createServer()
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const address = server.address()
    const client = connect(typeof address === 'object' && address !== null ? address.port : 0, '127.0.0.1')
    await new Promise((done) => client.once('connect', done))
    const after = proc.openFiles(process.pid)
    client.destroy()
    server.close()
    expect((after?.sockets ?? 0) - (before?.sockets ?? 0)).toBeGreaterThanOrEqual(2)
    expect(after?.descriptors).toBeGreaterThan(before?.descriptors ?? 0)
    expect(createProcfs({ maxDescriptors: 3 }).openFiles(process.pid)?.descriptors).toBe(3)
  })

  test('a process that is not there is undefined; a missing /proc is an error', () => {
    const none = 2 ** 22 + 7
    expect([proc.cgroupOf(none), proc.netDev(none), proc.openFiles(none), proc.maxOpenFiles(none)]).toEqual(
      Array(4).fill(undefined),
    )
    expect(() => createProcfs({ proc: '/nonexistent' }).memInfo()).toThrow(
      expect.objectContaining({ code: 'input.unreadable' }),
    )
  })
})
