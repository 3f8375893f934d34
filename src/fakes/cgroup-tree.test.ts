import { describe, expect, test } from 'vitest'
import { cgroupContract, runContractCase } from '../../test/contracts/cgroup-tree.js'
import { FakeCgroupTree } from './cgroup-tree.js'

for (const version of ['v2', 'v1'] as const)
  describe(`contract: fake ${version}`, () => {
    for (const contract of cgroupContract.filter((c) => c.version === undefined || c.version === version))
      test(contract.name, async () => {
        const tree = new FakeCgroupTree({ version })
        let pid = 100
        const ran = await runContractCase(contract, {
          tree,
          base: '/contract',
          pageSize: 4096n,
          async startProcess(path) {
            const own = ++pid
            tree.write(path, 'cgroup.procs', String(own))
            return { pid: own, end: async () => tree.kernel.detach(own) }
          },
        })
        expect(ran).toBe(true)
      })
  })

describe('behind the port', () => {
  test('the files of a controller exist only where it is enabled, and start anew', async () => {
    const tree = new FakeCgroupTree({ controllers: ['memory', 'pids'] })
    await tree.ensure('/a/b')
    tree.write('/a/b', 'memory.high', '8192')
    expect(tree.read('/a/b', 'cpu.weight')).toBeUndefined()
    tree.kernel.write('/a', 'cgroup.subtree_control', '-memory')
    expect(tree.read('/a/b', 'memory.high')).toBeUndefined()
    tree.kernel.write('/a', 'cgroup.subtree_control', '+memory')
    expect(tree.kernel.text('/a/b', 'memory.high')).toBe('max')
    expect(tree.kernel.write('/', 'cgroup.subtree_control', '-memory')).toBe('EBUSY')
    expect(tree.kernel.write('/', 'cgroup.subtree_control', '+cpu')).toBe('ENOENT')
  })

  test('protection is void below an ancestor that has none', async () => {
    const tree = new FakeCgroupTree()
    await tree.ensure('/kubepods/pod1/c1')
    for (const path of ['/kubepods', '/kubepods/pod1', '/kubepods/pod1/c1'])
      tree.kernel.setText(path, 'memory.current', '1048576')
    tree.write('/kubepods/pod1/c1', 'memory.min', '524288')
    expect(tree.effective('memory.min').get('/kubepods/pod1/c1')).toEqual({
      effective: 0n,
      cappedBy: '/kubepods/pod1',
    })
    tree.write('/kubepods/pod1', 'memory.min', '524288')
    expect(tree.effective('memory.min').get('/kubepods/pod1/c1')?.cappedBy).toBe('/kubepods')
    tree.write('/kubepods', 'memory.min', '524288')
    expect(tree.effective('memory.min').get('/kubepods/pod1/c1')).toEqual({
      effective: 524288n,
      cappedBy: undefined,
    })
  })

  test('refused writes carry the errno, and calls tell what was done', async () => {
    const tree = new FakeCgroupTree({ controllers: ['memory'] })
    await tree.ensure('/a')
    tree.refuse('/a', 'memory.min', 'EACCES')
    expect(() => tree.write('/a', 'memory.min', '0')).toThrow(
      expect.objectContaining({
        code: 'cgroup.denied',
        message: expect.stringContaining('memory.min=0 to /a'),
      }),
    )
    tree.refuse('/a', 'memory.min', undefined)
    tree.write('/a', 'memory.min', '0')
    expect(tree.calls).toEqual([
      { call: 'write', path: '/', file: 'cgroup.subtree_control', value: '+memory' },
      { call: 'create', path: '/a' },
      { call: 'write', path: '/a', file: 'memory.min', value: '0' },
    ])
  })
})
