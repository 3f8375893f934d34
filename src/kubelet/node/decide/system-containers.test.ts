import { expect, test } from 'vitest'
import { parseProcCgroup } from '../../../core/kernel-text/proc-cgroup.js'
import { systemContainers } from './system-containers.js'

const nothing = { kubeletCgroups: undefined, systemCgroups: undefined, runtimeCgroups: undefined }
const v2 = (path: string) => ({ own: parseProcCgroup(`0::${path}\n`), version: 'v2' as const })

test('settings name the cgroups, with or without the slash at their beginning', () => {
  const settings = { kubeletCgroups: '/kubelet', systemCgroups: 'system', runtimeCgroups: '/docker-daemon' }
  expect(systemContainers({ ...settings, ...v2('/other') })).toEqual({
    kubelet: '/kubelet',
    runtime: '/docker-daemon',
    misc: '/system',
  })
})

test('without kubeletCgroups it is the cgroup in which the kubelet was started', () => {
  expect(systemContainers({ ...nothing, ...v2('/system.slice/kubelet.service') })).toEqual({
    kubelet: '/system.slice/kubelet.service',
  })
})

test('on v1 CPU and memory have to be in the same one', () => {
  const of = (text: string) => systemContainers({ ...nothing, own: parseProcCgroup(text), version: 'v1' })
  expect(of('4:memory:/a\n3:cpu,cpuacct:/a\n')).toEqual({ kubelet: '/a' })
  expect(of('4:memory:/\n3:cpu,cpuacct:/a\n')).toEqual({})
})

test.each(['/', '/../outside'])('%s is not the cgroup of the kubelet alone', (path) => {
  expect(systemContainers({ ...nothing, ...v2(path) })).toEqual({})
})
