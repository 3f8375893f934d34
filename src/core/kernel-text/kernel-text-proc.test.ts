import { expect, test } from 'vitest'
import { parsePageSize } from './auxv.js'
import { parseCpuInfo } from './cpuinfo.js'
import { parseDiskStats } from './diskstats.js'
import { parseMemInfo } from './meminfo.js'
import { mountPointsAt, parseMountInfo } from './mountinfo.js'
import { parseNetDev } from './net-dev.js'
import { parsePidStat } from './pid-stat.js'
import { parseProcCgroup } from './proc-cgroup.js'
import { parseMaxOpenFiles } from './proc-limits.js'
import { parseProcStat } from './proc-stat.js'

test('mount points at a place and below it, also where the kernel escapes it', () => {
  const line = (root: string, point: string): string => `36 35 98:0 ${root} ${point} rw - tmpfs tmpfs rw\n`
  const text = [
    line('/', '/pods/a'),
    line('/', '/pods/a/volumes/x'),
    line('/', '/pods/ab'),
    line('/pods/a', '/elsewhere'),
    line('/', '/pods/b\\040c\\134d'),
    line('/', '/pods/b\\040c\\134d/e\\011f'),
  ].join('')
  expect(mountPointsAt(text, '/pods/a')).toEqual(['/pods/a', '/pods/a/volumes/x'])
  expect(mountPointsAt(text, '/pods/b c\\d')).toEqual(['/pods/b c\\d', '/pods/b c\\d/e\tf'])
  expect(mountPointsAt(text, '/pods/none')).toEqual([])
})

test('mountinfo: optional fields, escapes, and lines that are none', () => {
  const [mount, ...rest] = parseMountInfo(
    '36 35 98:0 /a\\040b /mnt/x\\134y rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue\nnonsense\n',
  )
  expect(rest).toEqual([])
  expect(mount).toEqual({
    id: 36,
    parentId: 35,
    majorMinor: '98:0',
    root: '/a b',
    mountPoint: '/mnt/x\\y',
    options: ['rw', 'noatime'],
    fsType: 'ext3',
    source: '/dev/root',
    superOptions: ['rw', 'errors=continue'],
  })
})

test('cpuinfo: cores and sockets from ids, and none of them on arm64', () => {
  const x86 = [0, 1, 2, 3]
    .map((i) => `processor\t: ${i}\nphysical id\t: ${i >> 1}\ncore id\t\t: 0\ncpu MHz\t\t: ${2000 + i}.5\n\n`)
    .join('')
  expect(parseCpuInfo(x86)).toMatchObject({ processors: 4, cores: 2, sockets: 2, mhz: 2003.5 })
  const arm = 'processor\t: 0\nBogoMIPS\t: 50.00\n\nprocessor\t: 1\nBogoMIPS\t: 50.00\n'
  expect(parseCpuInfo(arm)).toEqual({
    processors: 2,
    cores: 2,
    sockets: 1,
    modelName: undefined,
    vendorId: undefined,
    mhz: undefined,
  })
})

test('meminfo: kB are bytes, counts are counts', () => {
  const fields = parseMemInfo(
    'MemTotal:       24684100 kB\nHugePages_Total:       3\nActive(anon):  1 kB\njunk\n',
  )
  expect([...fields]).toEqual([
    ['MemTotal', 24684100n * 1024n],
    ['HugePages_Total', 3n],
    ['Active(anon)', 1024n],
  ])
})

test('stat: old kernels print fewer columns', () => {
  const stat = parseProcStat('cpu  1 2 3 4\ncpu7 1 2 3 4 5 6 7 8 9 10\nbtime 1700000000\nprocesses 9\n')
  expect(stat.total).toEqual({
    user: 1n,
    nice: 2n,
    system: 3n,
    idle: 4n,
    iowait: 0n,
    irq: 0n,
    softirq: 0n,
    steal: 0n,
  })
  expect(stat.perCpu.get(7)?.steal).toBe(8n)
  expect([stat.bootTimeSeconds, stat.processesForked, stat.procsRunning]).toEqual([1700000000n, 9n, 0n])
})

test('diskstats: 14 and 20 columns', () => {
  const lines = parseDiskStats(
    ' 8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n 254 0 vda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n8 1 x 1\n',
  )
  expect(lines.map((d) => [d.majorMinor, d.name, d.sectorsRead, d.weightedIoMillis])).toEqual([
    ['8:0', 'sda', 3n, 11n],
    ['254:0', 'vda', 3n, 11n],
  ])
})

test('net/dev: counters that touch the colon, and aliases', () => {
  const [dev] = parseNetDev('face |bytes\neth0:1:18446744073709551615 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n')
  expect(dev).toEqual({
    name: 'eth0:1',
    rxBytes: 18446744073709551615n,
    rxPackets: 2n,
    rxErrors: 3n,
    rxDropped: 4n,
    txBytes: 9n,
    txPackets: 10n,
    txErrors: 11n,
    txDropped: 12n,
  })
})

test('cgroup membership: v2, v1, co-mounted, colons in a path, a deleted cgroup', () => {
  expect(parseProcCgroup('0::/kubepods.slice/x.slice:cri-containerd:1\n').unified).toBe(
    '/kubepods.slice/x.slice:cri-containerd:1',
  )
  const v1 = parseProcCgroup('4:cpu,cpuacct:/a (deleted)\n9:name=systemd:/\n')
  expect(v1.unified).toBeUndefined()
  expect([...v1.controllers]).toEqual([
    ['cpu', '/a'],
    ['cpuacct', '/a'],
    ['name=systemd', '/'],
  ])
})

test('limits: open files, or none', () => {
  const limits = (soft: string): string =>
    'Limit                     Soft Limit           Hard Limit           Units     \n' +
    'Max nice priority         0                    0                    \n' +
    `Max open files            ${soft.padEnd(21)}unlimited            files     \n`
  expect(parseMaxOpenFiles(limits('1024'))).toBe(1024n)
  expect(parseMaxOpenFiles(limits('unlimited'))).toBe('unlimited')
  expect(parseMaxOpenFiles('')).toBeUndefined()
})

test('auxv: page size, or none', () => {
  const words = new BigUint64Array([33n, 1n, 6n, 65536n, 0n, 0n])
  expect(parsePageSize(new Uint8Array(words.buffer))).toBe(65536n)
  expect(parsePageSize(new Uint8Array(10))).toBeUndefined()
})

test('/proc/PID/stat: fields are counted from the end of the name, which may hold brackets and spaces', () => {
  const rest = `${'0 '.repeat(16)}4711 99`
  expect(parsePidStat(`42 (a) R 1) S 7 8 ${rest}`)).toEqual({
    state: 'S',
    parent: 7,
    group: 8,
    startTicks: '4711',
  })
  expect(parsePidStat('42 (a) S 7')).toBeUndefined()
  expect(parsePidStat('')).toBeUndefined()
})
