import { expect, test } from 'vitest'
import { FakeCgroupTree } from '../../fakes/cgroup-tree.js'
import { FakeSystemd } from '../../fakes/systemd.js'
import { SystemdCgroupTree } from './cgroup-tree.js'

const pod = '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice'
const unit = 'kubepods-burstable-pod1.slice'

function setUp() {
  const files = new FakeCgroupTree({ controllers: ['cpu', 'memory', 'pids', 'hugetlb'] })
  const systemd = new FakeSystemd(files)
  return { files, systemd, tree: new SystemdCgroupTree({ files, systemd, pageSize: 4096n }) }
}

test('ensure starts each missing slice once, from the top', async () => {
  const { tree, systemd } = setUp()
  await tree.ensure(pod)
  await tree.ensure(pod)
  expect(systemd.calls).toEqual(['start kubepods.slice', 'start kubepods-burstable.slice', `start ${unit}`])
  expect(tree.walk('/kubepods.slice')).toEqual([
    '/kubepods.slice',
    '/kubepods.slice/kubepods-burstable.slice',
    pod,
  ])
})

test('apply sends everything that we own, and survives a reload; a file alone does not', async () => {
  const { tree, files, systemd } = setUp()
  await tree.ensure(pod)
  await tree.apply(pod, { 'memory.min': '8192', 'cpu.weight': '39' })
  await tree.apply(pod, { 'memory.high': '1048576' })
  expect(systemd.calls.at(-1)).toBe(`set ${unit} MemoryMin=8192 CPUWeight=39 MemoryHigh=1048576`)
  tree.write(pod, 'memory.low', '4096')
  expect(files.kernel.text(pod, 'memory.low')).toBe('4096')
  await systemd.reload()
  const texts = ['memory.min', 'cpu.weight', 'memory.high', 'memory.low'].map((file) =>
    files.kernel.text(pod, file),
  )
  expect(texts).toEqual(['8192', '39', '1048576', '0'])
})

test('a value that systemd rounds or does not know is put right in the file, others are not written twice', async () => {
  const { tree, files } = setUp()
  await tree.ensure(pod)
  files.calls.length = 0
  await tree.apply(pod, {
    'memory.max': '100000000',
    'cpu.max': '50500 100000',
    'hugetlb.2MB.max': '2097152',
  })
  expect(files.calls).toEqual([
    { call: 'write', path: pod, file: 'cpu.max', value: '50500 100000' },
    { call: 'write', path: pod, file: 'hugetlb.2MB.max', value: '2097152' },
  ])
  expect(files.kernel.text(pod, 'cpu.max')).toBe('50500 100000')
  expect(files.kernel.text(pod, 'memory.max')).toBe('99999744')
})

test('remove stops the slices below first; a process inside stops it before systemd is asked', async () => {
  const { tree, files, systemd } = setUp()
  await tree.ensure(pod)
  files.kernel.attach(pod, 7)
  systemd.calls.length = 0
  await expect(tree.remove('/kubepods.slice')).rejects.toMatchObject({ code: 'cgroup.busy' })
  expect(systemd.calls).toEqual([])
  files.kernel.detach(7)
  await tree.remove('/kubepods.slice')
  expect(systemd.calls).toEqual([`stop ${unit}`, 'stop kubepods-burstable.slice', 'stop kubepods.slice'])
  expect(tree.exists('/kubepods.slice')).toBe(false)
  await tree.remove('/kubepods.slice')
})

test('a slice that was removed and made again starts without old values', async () => {
  const { tree, systemd } = setUp()
  await tree.ensure(pod)
  await tree.apply(pod, { 'memory.min': '8192' })
  await tree.remove(pod)
  await tree.ensure(pod)
  await tree.apply(pod, { 'memory.high': 'max' })
  expect(systemd.calls.at(-1)).toBe(`set ${unit} MemoryHigh=18446744073709551615`)
})

test('only slices are managed', async () => {
  const { tree } = setUp()
  await expect(tree.ensure('/kubepods/pod1')).rejects.toMatchObject({ code: 'cgroup.invalid-path' })
})
