// The adapter on a directory shaped like /sys/fs/cgroup: descriptors, buffers, order of writes.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseCount } from '../../core/kernel-text/digits.js'
import { decodeText, parsePids } from '../../core/kernel-text/words.js'
import { splitHierarchy, unifiedHierarchy } from './hierarchy.js'
import { CgroupFsTree } from './tree.js'

let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'keelson-cgroup-'))
})
afterEach(() => rmSync(root, { recursive: true }))

const put = (path: string, text: string): void => {
  mkdirSync(join(root, path, '..'), { recursive: true })
  writeFileSync(join(root, path), text)
}

const openHere = (): number =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readFileSync(`/proc/self/fdinfo/${fd}`) !== undefined
    } catch {
      return false
    }
  }).length

describe('reading', () => {
  test('a kept descriptor shows new values, and the view is overwritten by the next read', () => {
    put('a/memory.current', '4096\n')
    put('a/memory.max', 'max\n')
    const tree = new CgroupFsTree(unifiedHierarchy(root))
    const view = tree.read('/a', 'memory.current')
    expect(view && parseCount(view)).toBe(4096n)
    writeFileSync(join(root, 'a/memory.current'), '8192\n')
    const again = tree.read('/a', 'memory.current')
    expect(again && parseCount(again)).toBe(8192n)
    tree.read('/a', 'memory.max')
    expect(tree.openDescriptors).toBe(2)
    tree.close()
    expect(tree.openDescriptors).toBe(0)
  })

  test('open descriptors stay below the bound; the cgroup read longest ago gives up its own', () => {
    for (let i = 0; i < 20; i++) for (const f of ['memory.current', 'memory.max']) put(`c${i}/${f}`, `${i}\n`)
    const tree = new CgroupFsTree(unifiedHierarchy(root), { maxDescriptors: 10 })
    const before = openHere()
    for (let round = 0; round < 3; round++)
      for (let i = 0; i < 20; i++)
        for (const f of ['memory.current', 'memory.max'] as const) {
          const view = tree.read(`/c${i}`, f)
          expect(view && parseCount(view)).toBe(BigInt(i))
          expect(tree.openDescriptors).toBeLessThanOrEqual(10)
        }
    expect(openHere() - before).toBe(10)
    tree.close()
    expect(openHere()).toBe(before)
  })

  test('files larger than the buffer are read whole', () => {
    const pids = Array.from({ length: 40_000 }, (_, i) => i + 1)
    put('a/cgroup.procs', `${pids.join('\n')}\n`)
    put('a/memory.stat', 'x'.repeat(65_536))
    const tree = new CgroupFsTree(unifiedHierarchy(root))
    for (let i = 0; i < 2; i++)
      expect(parsePids(tree.read('/a', 'cgroup.procs') ?? new Uint8Array())).toEqual(pids)
    expect(tree.read('/a', 'memory.stat')?.length).toBe(65_536)
    tree.close()
  })

  test('a file that appears later is found', () => {
    put('a/memory.current', '1\n')
    const tree = new CgroupFsTree(unifiedHierarchy(root))
    expect(tree.read('/a', 'cpu.pressure')).toBeUndefined()
    put('a/cpu.pressure', 'some\n')
    expect(tree.read('/a', 'cpu.pressure')).toBeDefined()
    tree.close()
  })

  test('v1 files come from the hierarchy of their controller', () => {
    put('memory/a/memory.stat', 'memory')
    put('cpu,cpuacct/a/cpuacct.usage', 'cpuacct')
    put('cpu,cpuacct/a/tasks', 'tasks')
    const both = join(root, 'cpu,cpuacct')
    const tree = new CgroupFsTree(
      splitHierarchy(
        new Map([
          ['memory', join(root, 'memory')],
          ['cpu', both],
          ['cpuacct', both],
        ]),
      ),
    )
    const text = (file: string) => decodeText(tree.read('/a', file) ?? new Uint8Array())
    expect(['memory.stat', 'cpuacct.usage', 'tasks', 'pids.max'].map(text)).toEqual([
      'memory',
      'cpuacct',
      'tasks',
      '',
    ])
    expect(tree.controllers('/a')).toEqual(['memory', 'cpu', 'cpuacct'])
    expect(tree.children('/')).toEqual(['a'])
    tree.close()
  })

  test('a walk: all hierarchies or the first that has it; leaves are named and not looked into', () => {
    put('memory/pods/b/inside/memory.stat', '')
    put('memory/pods/a/memory.stat', '')
    put('cpu/pods/c/cpu.stat', '')
    put('cpu/elsewhere/cpu.stat', '')
    const hierarchy = new Map(['memory', 'cpu'].map((name) => [name, join(root, name)] as const))
    const tree = new CgroupFsTree(splitHierarchy(hierarchy))
    const below = ['/pods', '/pods/a', '/pods/b', '/pods/b/inside', '/pods/c']
    expect(tree.walk('/pods')).toEqual(below)
    expect(tree.walk('/pods', { inOneHierarchy: true })).toEqual(below.slice(0, 4))
    expect(tree.walk('/elsewhere', { inOneHierarchy: true })).toEqual(['/elsewhere'])
    const isLeaf = (name: string): boolean => name === 'b'
    expect(tree.walk('/pods', { isLeaf })).toEqual(below.filter((path) => path !== '/pods/b/inside'))
    expect(tree.walk('/pods', { isLeaf, maxCgroups: 2 })).toEqual(['/pods', '/pods/a'])
    tree.close()
  })
})

describe('changing', () => {
  test('v1: what the runtime made in hierarchies that Keelson does not use is removed too', async () => {
    const [memory, devices] = [join(root, 'memory'), join(root, 'devices')]
    mkdirSync(join(memory, 'pod1'), { recursive: true })
    mkdirSync(join(devices, 'pod1/container'), { recursive: true })
    const tree = new CgroupFsTree(splitHierarchy(new Map([['memory', memory]]), [memory, devices]))
    await tree.remove('/pod1')
    expect([memory, devices].flatMap((path) => readdirSync(path))).toEqual([])
    tree.close()
  })

  test('ensure enables what is available and not yet enabled, from the root down', async () => {
    put('cgroup.controllers', 'cpu memory rdma\n')
    put('cgroup.subtree_control', 'cpu\n')
    const tree = new CgroupFsTree(unifiedHierarchy(root))
    await tree.ensure('/a')
    expect(readFileSync(join(root, 'cgroup.subtree_control'), 'utf8')).toBe('+memory')
    expect(existsSync(join(root, 'a'))).toBe(true)
    await expect(tree.ensure('/b', { controllers: ['memory', 'cpuset'] })).rejects.toMatchObject({
      code: 'cgroup.controller-missing',
      message: expect.stringContaining('cpuset'),
      details: { missing: ['cpuset'], available: ['cpu', 'memory', 'rdma'] },
    })
    expect(existsSync(join(root, 'b'))).toBe(false)
  })

  test('v1: ensure makes what is missing in each hierarchy, and an empty cpuset takes what the one above it has', async () => {
    const names = ['cpu', 'cpuset', 'memory']
    put('cpuset/cpuset.cpus', '0-3\n')
    for (const path of ['cpuset/a/cpuset.cpus', 'cpuset/a/b/cpuset.cpus']) put(path, '\n')
    for (const name of ['cpu', 'memory/a']) mkdirSync(join(root, name), { recursive: true })
    const tree = new CgroupFsTree(splitHierarchy(new Map(names.map((name) => [name, join(root, name)]))))
    await tree.ensure('/a/b')
    expect(names.map((name) => existsSync(join(root, name, 'a/b')))).toEqual([true, true, true])
    expect(readFileSync(join(root, 'cpuset/a/b/cpuset.cpus'), 'utf8')).toBe('0-3')
    expect(readFileSync(join(root, 'cpuset/a/cpuset.cpus'), 'utf8')).toBe('0-3')
    rmSync(join(root, 'memory'), { recursive: true })
    await expect(tree.ensure('/a/c')).rejects.toMatchObject({ code: 'cgroup.gone' })
  })

  const names = ['cpu', 'memory', 'pids']
  const split = (): CgroupFsTree => {
    for (const name of names) mkdirSync(join(root, name))
    return new CgroupFsTree(splitHierarchy(new Map(names.map((name) => [name, join(root, name)]))))
  }

  test('v1: the first of many is whole before the second begins', async () => {
    const tree = split()
    const seen: number[] = []
    const holding = (path: string): number =>
      names.filter((name) => existsSync(join(root, name, path))).length
    await Promise.all([
      tree.ensure('/a').then(() => seen.push(holding('a'), holding('b'))),
      tree.ensure('/b').then(() => seen.push(holding('b'))),
    ])
    expect(seen).toEqual([3, 0, 3])
  })

  test('v1: aborted between two hierarchies, it is removed or completed later', async () => {
    const tree = split()
    const stop = new AbortController()
    const look = (): void => {
      if (existsSync(join(root, 'cpu/a'))) stop.abort()
      else setImmediate(look)
    }
    look()
    await expect(tree.ensure('/a', { signal: stop.signal })).rejects.toMatchObject({ name: 'AbortError' })
    expect(existsSync(join(root, 'pids/a'))).toBe(false)
    await tree.ensure('/a')
    expect(existsSync(join(root, 'pids/a'))).toBe(true)
    rmSync(join(root, 'pids/a'), { recursive: true })
    await tree.remove('/a')
    expect(tree.exists('/a')).toBe(false)
  })

  test('v1: what waits for the event loop comes in after each hierarchy', async () => {
    const tree = split()
    const seen: number[] = []
    const look = (): void => {
      seen.push(names.filter((name) => existsSync(join(root, name, 'a'))).length)
      if (seen.at(-1) !== names.length) setImmediate(look)
    }
    setImmediate(look)
    await tree.ensure('/a')
    await expect.poll(() => seen).toEqual([0, 1, 2, 3])
  })

  test('a refused write says what was written where', () => {
    put('a/memory.high', 'max')
    const tree = new CgroupFsTree(unifiedHierarchy(root))
    tree.write('/a', 'memory.high', '4096')
    expect(readFileSync(join(root, 'a/memory.high'), 'utf8')).toBe('4096')
    expect(() => tree.write('/a', 'cpu.weight', '7')).toThrow(
      'write cpu.weight=7 to /a: no such file; is the cpu controller enabled there?',
    )
    expect(existsSync(join(root, 'a/cpu.weight'))).toBe(false)
  })

  test('links are neither listed nor removed', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'keelson-elsewhere-'))
    mkdirSync(join(elsewhere, 'inner'))
    mkdirSync(join(root, 'a'))
    symlinkSync(elsewhere, join(root, 'a', 'link'))
    const tree = new CgroupFsTree(unifiedHierarchy(root))
    expect(tree.children('/a')).toEqual([])
    await expect(tree.remove('/a')).rejects.toMatchObject({ code: 'cgroup.busy' })
    expect(existsSync(join(elsewhere, 'inner'))).toBe(true)
    rmSync(elsewhere, { recursive: true })
  })

  test('an aborted ensure stops', async () => {
    const tree = new CgroupFsTree(unifiedHierarchy(root))
    await expect(tree.ensure('/a', { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    })
    expect(existsSync(join(root, 'a'))).toBe(false)
  })
})
