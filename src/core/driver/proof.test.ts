import { describe, expect, test } from 'vitest'
import { classifyCgroupPath, parseHandlerSettings } from './evidence.js'
import { type ProofFacts, proveDriver } from './proof.js'

const id = 'a'.repeat(64)
const paths = {
  systemd: `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0a1b_2c.slice/cri-containerd-${id}.scope`,
  systemdGuaranteed: `/kubepods.slice/kubepods-pod0a1b_2c.slice/crio-${id}.scope`,
  systemdRoot: `/a.slice/a-kubepods.slice/a-kubepods-besteffort.slice/cri-containerd-${id}.scope`,
  cgroupfs: `/kubepods/burstable/pod0a1b-2c/${id}`,
  cgroupfsRoot: `/a/kubepods/pod0a1b-2c/crio-${id}`,
  mismatch: `/kubepods-burstable-pod0a1b_2c.slice:cri-containerd:${id}`,
  nestedMismatch: `/system.slice/containerd.service/kubepods-pod1.slice:cri-containerd:${id}`,
}

describe('classifyCgroupPath', () => {
  for (const { path, evidence } of [
    { path: paths.systemd, evidence: 'systemd' },
    { path: paths.systemdGuaranteed, evidence: 'systemd' },
    { path: paths.systemdRoot, evidence: 'systemd' },
    { path: paths.cgroupfs, evidence: 'cgroupfs' },
    { path: paths.cgroupfsRoot, evidence: 'cgroupfs' },
    { path: paths.mismatch, evidence: 'mismatch' },
    { path: paths.nestedMismatch, evidence: 'mismatch' },
    { path: `/lab/${id}`, evidence: 'cgroupfs' },
    { path: `/system.slice/cri-containerd-${id}.scope`, evidence: 'systemd' },
    { path: `/k8s.io/${id}`, evidence: 'cgroupfs' },
    { path: '/', evidence: 'other' },
    { path: '', evidence: 'other' },
    { path: '/user.slice/user-0.slice/session-1.scope', evidence: 'other' },
    { path: '/system.slice/containerd.service', evidence: 'other' },
    { path: `/machine.slice/${id}`, evidence: 'other' },
    { path: '/kubepodsx/pod1', evidence: 'other' },
  ])
    test(`${path} is ${evidence}`, () => expect(classifyCgroupPath(path)).toBe(evidence))
})

describe('parseHandlerSettings', () => {
  test('containerd: the default first, the others by name, virtual machines without a driver', () => {
    const config = {
      containerd: {
        defaultRuntimeName: 'runc',
        runtimes: {
          kata: { runtimeType: 'io.containerd.kata.v2' },
          crun: { runtimeType: 'io.containerd.runc.v2', options: { SystemdCgroup: true } },
          runc: { runtimeType: 'io.containerd.runc.v2', options: {} },
        },
      },
    }
    expect(parseHandlerSettings(JSON.stringify(config))).toEqual([
      { name: 'runc', isDefault: true, driver: 'cgroupfs' },
      { name: 'crun', isDefault: false, driver: 'systemd' },
      { name: 'kata', isDefault: false, driver: undefined },
    ])
  })
  for (const text of ['', '{', '[]', 'null', '{"containerd":3}', '{"containerd":{"runtimes":[]}}'])
    test(`${JSON.stringify(text)} says nothing`, () => expect(parseHandlerSettings(text)).toBe(undefined))
})

const sandbox = (path: string, n = 1) => ({ id: `${n}`.repeat(64), pod: `default/p${n}`, path })

const prove = (more: Partial<ProofFacts> = {}) =>
  proveDriver({
    inUse: { driver: 'systemd', source: 'cri', fallback: undefined },
    sandboxes: [],
    populated: { cgroupfs: false, systemd: false },
    hostHasSystemd: true,
    handlers: [],
    endpoint: { used: 'unix:///run/a.sock', beaten: undefined },
    ...more,
  })

describe('proveDriver', () => {
  test('a node that agrees has no finding', () => {
    expect(
      prove({
        sandboxes: [sandbox(paths.systemd), sandbox(paths.systemdGuaranteed, 2), sandbox('/init.scope', 3)],
        populated: { cgroupfs: false, systemd: true },
        handlers: [
          { name: 'runc', isDefault: true, driver: 'systemd' },
          { name: 'kata', isDefault: false, driver: undefined },
        ],
      }),
    ).toEqual({ agreeing: 2, silent: 1, findings: [] })
  })

  for (const { name, more, id, says } of [
    {
      name: 'sandboxes of the other driver are named and left alone',
      more: { sandboxes: [sandbox(paths.cgroupfs), sandbox(paths.systemd, 2)] },
      id: 'sandboxes-under-other-driver',
      says: 'nothing was moved',
    },
    {
      name: 'in a fallback the running sandboxes are the better evidence',
      more: {
        inUse: { driver: 'systemd', source: 'config', fallback: 'unimplemented' } as const,
        sandboxes: [sandbox(paths.cgroupfs)],
      },
      id: 'fallback-against-sandboxes',
      says: 'set cgroupDriver: cgroupfs',
    },
    {
      name: 'a path with two colons has escaped its limits',
      more: { sandboxes: [sandbox(paths.mismatch)] },
      id: 'sandboxes-outside-pod-cgroups',
      says: 'SystemdCgroup = true',
    },
    {
      name: 'both trees hold processes',
      more: { populated: { cgroupfs: true, systemd: true } },
      id: 'both-pod-trees-in-use',
      says: 'drain',
    },
    {
      name: 'an untouched containerd 2 on a systemd host',
      more: { inUse: { driver: 'cgroupfs', source: 'cri', fallback: undefined } as const },
      id: 'cgroupfs-on-systemd-host',
      says: 'SystemdCgroup = true',
    },
    {
      name: 'a handler with another setting',
      more: {
        handlers: [
          { name: 'runc', isDefault: true, driver: 'systemd' as const },
          { name: 'crun', isDefault: false, driver: 'cgroupfs' as const },
        ],
      },
      id: 'handlers-differ',
      says: 'crun (cgroupfs)',
    },
    {
      name: 'a left-over flag',
      more: {
        endpoint: {
          used: 'unix:///run/a.sock',
          beaten: { value: 'unix:///run/b.sock', place: '/var/lib/kubelet/config.yaml:9' },
        },
      },
      id: 'endpoint-flag-beats-file',
      says: 'kubeadm-flags.env',
    },
  ])
    test(name, () => {
      const { findings } = prove(more)
      expect(findings.map((f) => f.id)).toEqual([id])
      expect(`${findings[0]?.message} ${findings[0]?.remedy}`).toContain(says)
    })

  test('many sandboxes are counted, twenty are named', () => {
    const sandboxes = Array.from({ length: 200 }, (_, i) => sandbox(paths.cgroupfs, i))
    const [finding] = prove({ sandboxes }).findings
    expect(finding?.message).toContain('200 running sandboxes')
    expect(finding?.sandboxes?.length).toBe(20)
  })
})
