import { expect, test } from 'vitest'
import { parseProcCgroup } from '../../core/kernel-text/proc-cgroup.js'
import { parsePids } from '../../core/kernel-text/words.js'
import { FakeCgroupTree } from '../../fakes/cgroup-tree.js'
import { FakeClock } from '../../fakes/clock.js'
import { FakeLog } from '../../fakes/log.js'
import { startSystemCgroups } from './system-cgroups.js'

const [init, kernelThread, daemon, later, own] = [1, 2, 30, 31, 77]

function start(kubelet: { kubeletCgroups?: string; systemCgroups?: string }) {
  const tree = new FakeCgroupTree()
  const clock = new FakeClock()
  const stop = new AbortController()
  for (const pid of [init, kernelThread, daemon, own]) tree.kernel.attach('/', pid)
  const pids = (path: string): number[] => parsePids(tree.read(path, 'cgroup.procs') ?? new Uint8Array())
  const ports = {
    clock,
    log: new FakeLog(),
    host: { pid: own },
    procfs: {
      isKernelThread: (pid: number) => pid === kernelThread,
      cgroupOf: () => parseProcCgroup('0::/system.slice/kubelet.service\n'),
    },
  }
  const system = startSystemCgroups(
    { kubelet, process: { 'runtime-cgroups': '/runtime' } } as never,
    tree,
    ports as never,
    stop.signal,
  )
  return { tree, clock, stop, pids, system }
}

test('the kubelet and the processes of the root are moved, also those that come later', async () => {
  const { tree, clock, stop, pids, system } = start({ kubeletCgroups: '/kubelet', systemCgroups: '/system' })
  expect([pids('/kubelet'), pids('/system'), pids('/')]).toEqual([[own], [daemon], [init, kernelThread]])
  expect(system.containers).toEqual({ kubelet: '/kubelet', runtime: '/runtime', misc: '/system' })
  tree.kernel.attach('/', later)
  await clock.advance(60_000)
  expect(pids('/system')).toEqual([daemon, later])
  stop.abort()
  await system.done
})

test('without the settings nothing is moved', async () => {
  const { tree, pids, system } = start({})
  await system.done
  expect(pids('/')).toEqual([init, kernelThread, daemon, own])
  expect(tree.calls).toEqual([])
  expect(system.containers).toEqual({ kubelet: '/system.slice/kubelet.service', runtime: '/runtime' })
})
