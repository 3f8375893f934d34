import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assertProperty } from '../../../test/support/property.js'
import { KeelsonError } from '../errors.js'
import {
  cgroupChild,
  cgroupName,
  formatCgroupfsPath,
  formatCgroupPath,
  formatSystemdPath,
  parseCgroupPath,
  parseSystemdPath,
} from './name.js'
import { cgroupParent, kubepodsName, parsePodCgroupName, podCgroupName, qosCgroupName } from './pod-cgroup.js'

describe('paths under both drivers', () => {
  for (const [components, cgroupfs, systemd] of [
    [[], '/', '/'],
    [['kubepods'], '/kubepods', '/kubepods.slice'],
    [['a-b', 'c'], '/a-b/c', '/a_b.slice/a_b-c.slice'],
    [
      ['kubepods', 'burstable', 'pod1-2'],
      '/kubepods/burstable/pod1-2',
      '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2.slice',
    ],
  ] as const) {
    test(cgroupfs, () => {
      const name = cgroupName(components)
      expect([formatCgroupfsPath(name), formatSystemdPath(name)]).toEqual([cgroupfs, systemd])
    })
  }
})

describe('refused components', () => {
  for (const component of ['', 'a_b', 'a/b', '.', '..', 'a\0b', 'a\nb', 'x'.repeat(300)]) {
    test(JSON.stringify(component.slice(0, 12)), () => {
      expect(() => formatCgroupfsPath(cgroupName([component]))).toThrowError(KeelsonError)
      expect(() => formatSystemdPath(cgroupName([component]))).toThrowError(KeelsonError)
    })
  }
  test('only what is added is held to the rule about underscores', () => {
    expect(formatCgroupfsPath(cgroupChild(['my_root'], 'kubepods'))).toBe('/my_root/kubepods')
    expect(() => cgroupChild(['root'], 'my_pod')).toThrowError(/underscore/)
  })
})

describe('reading configured names', () => {
  for (const [driver, path, components] of [
    ['systemd', '/kube.slice/kube-reserved.slice', ['kube', 'reserved']],
    ['systemd', 'kube-reserved', ['kube', 'reserved']],
    ['systemd', '/system.slice/', ['system']],
    ['systemd', '/my_app.slice', ['my-app']],
    ['systemd', '-.slice', []],
    ['systemd', '/', []],
    ['cgroupfs', '/', []],
    ['cgroupfs', '', []],
    ['cgroupfs', '/a-b/c_d', ['a-b', 'c_d']],
    ['cgroupfs', 'system.slice', ['system.slice']],
  ] as const) {
    test(`${driver} ${path}`, () => expect(parseCgroupPath(path, driver)).toEqual(components))
  }
  for (const [driver, path] of [
    ['systemd', 'a--b.slice'],
    ['systemd', '-a.slice'],
    ['systemd', '.slice'],
    ['systemd', '..'],
    ['cgroupfs', '/a//b'],
    ['cgroupfs', '/a/../b'],
  ] as const) {
    test(`refuses ${driver} ${path}`, () =>
      expect(() => parseCgroupPath(path, driver)).toThrowError(KeelsonError))
  }
})

describe('names of pods', () => {
  const uid = '6c1a4e95-6bb6-11e6-bc26-28d2444e470d'
  test('by class', () => {
    expect(formatCgroupfsPath(podCgroupName(uid, 'Guaranteed'))).toBe(`/kubepods/pod${uid}`)
    expect(formatCgroupfsPath(podCgroupName(uid, 'BestEffort'))).toBe(`/kubepods/besteffort/pod${uid}`)
    expect(cgroupParent(podCgroupName('1-2', 'Burstable'), 'systemd')).toBe(
      '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2.slice',
    )
  })
  test('below a configured root, with underscores of its own', () => {
    const name = podCgroupName('1', 'Guaranteed', '/my_root/sub-root')
    expect(formatCgroupfsPath(name)).toBe('/my_root/sub-root/kubepods/pod1')
    expect(formatSystemdPath(kubepodsName('/custom-root'))).toBe(
      '/custom_root.slice/custom_root-kubepods.slice',
    )
  })
  test('a hostile uid is refused for that pod only', () => {
    for (const bad of ['', 'a_b', '../../x', 'a/b', 'x\n']) {
      expect(() => podCgroupName(bad, 'Burstable')).toThrowError(KeelsonError)
    }
  })
  test('and back', () => {
    for (const qosClass of ['Guaranteed', 'Burstable', 'BestEffort'] as const) {
      const path = formatSystemdPath(podCgroupName(uid, qosClass, '/custom-root'))
      expect(parsePodCgroupName(parseSystemdPath(path), '/custom-root')).toEqual({ uid, qosClass })
    }
    for (const other of [
      ['kubepods'],
      ['kubepods', 'burstable'],
      ['kubepods', 'x'],
      ['x', 'pod1'],
      ['kubepods', 'pod1', 'c'],
    ]) {
      expect(parsePodCgroupName(other)).toBeUndefined()
    }
    expect(qosCgroupName('/', 'Burstable')).toEqual(['kubepods', 'burstable'])
  })
})

const legalComponent = fc
  .stringMatching(/^[A-Za-z0-9:.@ \\~é-]{1,20}$/)
  .filter((s) => s !== '.' && s !== '..')

test('every legal name survives the way to a path and back, under both drivers', () => {
  const names = fc.array(legalComponent, { minLength: 0, maxLength: 5 })
  assertProperty(
    fc.property(names, fc.constantFrom('systemd', 'cgroupfs'), (components, driver) => {
      const name = cgroupName(components)
      expect(parseCgroupPath(formatCgroupPath(name, driver), driver)).toEqual(components)
    }),
    { numRuns: 20_000 },
  )
})
