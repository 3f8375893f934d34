// The start-up in one process: what is asked when, what the node must be like, and what running sandboxes prove.
import { afterEach, describe, expect, test } from 'vitest'
import type { Scripts } from '../../src/fakes/cri/answers.js'
import { startFakeRuntime } from '../../src/fakes/cri/fake-runtime.js'
import { nodeAnswers } from '../../src/fakes/cri/node-answers.js'
import { createNodeState } from '../../src/fakes/cri/node-state.js'
import { runtimeConfig } from '../../src/fakes/cri/shapes.js'
import { kernelDefaults } from '../../src/kubelet/node/decide/kernel-defaults.js'
import { podLimit } from '../../src/kubelet/pods/start-pods.js'
import {
  createKubeletFixture,
  type KubeletFixture,
  type KubeletFixtureOptions,
  kubeletDocument,
  passingTime,
  version,
} from '../support/kubelet-fixture.js'

const fixtures: KubeletFixture[] = []
afterEach(async () => {
  for (const fixture of fixtures.splice(0)) await fixture.close()
})

async function bedWith(options: KubeletFixtureOptions): Promise<KubeletFixture> {
  const fixture = await createKubeletFixture(options)
  fixtures.push(fixture)
  return fixture
}

const systemd: Scripts = { RuntimeConfig: runtimeConfig.systemd }
const cgroupfs: Scripts = { RuntimeConfig: runtimeConfig.cgroupfs }

describe('cgroups', () => {
  test('the tree is opened once, after the last answer, with the driver of the runtime; nothing is changed', async () => {
    const fixture = await bedWith({
      scripts: { RuntimeConfig: [{ code: 'INTERNAL' }, runtimeConfig.systemd] },
    })
    await passingTime(fixture.clock, fixture.start(['--cgroup-driver=cgroupfs']))
    expect(fixture.opened).toEqual([{ driver: 'systemd', after: 2 }])
    expect(fixture.cgroups.calls).toEqual([])
  })

  for (const { name, scripts } of [
    { name: 'an unknown driver', scripts: { RuntimeConfig: runtimeConfig.unknownDriver(2) } },
    { name: 'no answer', scripts: { RuntimeConfig: { code: 'UNKNOWN' } } },
    { name: 'no CRI v1', scripts: { Version: { code: 'UNIMPLEMENTED' } } },
  ] as const satisfies readonly { name: string; scripts: Scripts }[])
    test(`the tree is never opened after ${name}`, async () => {
      const fixture = await bedWith({ scripts })
      await expect(passingTime(fixture.clock, fixture.start([]))).rejects.toThrow()
      expect(fixture.opened).toEqual([])
      expect(fixture.served).toEqual([])
    })
})

describe('the node', () => {
  test('facts are read once and frozen', async () => {
    const { node } = await (await bedWith({ scripts: systemd })).start(['--kube-reserved=memory=100Mi'])
    expect(node).toMatchObject({
      cgroupVersion: 2,
      cgroupMode: 'v2',
      systemd: true,
      psi: false,
      pageSize: 4096n,
    })
    expect(node?.controllers).toEqual(['cpu', 'io', 'memory', 'pids'])
    expect(node?.kernel).toMatch(/^6\.1\./)
    const memory = node?.capacity.memory ?? 0n
    expect(node?.allocatable.forFormula).toBe(memory - 100n * 1024n * 1024n)
    expect(Object.isFrozen(node)).toBe(true)
  })

  test('the driver systemd without systemd is a clear error', async () => {
    const fixture = await bedWith({ scripts: systemd, systemd: false })
    await expect(fixture.start([])).rejects.toMatchObject({ code: 'driver.no-systemd' })
  })

  for (const { kubernetes, flags, fails } of [
    { kubernetes: '1.30', flags: [], fails: false },
    { kubernetes: '1.34', flags: [], fails: false },
    { kubernetes: '1.34', flags: ['--fail-cgroupv1'], fails: true },
    { kubernetes: '1.35', flags: [], fails: true },
    { kubernetes: '1.35', flags: ['--fail-cgroupv1=false'], fails: false },
  ])
    test(`cgroup v1 in ${kubernetes} ${flags.join(' ')}: ${fails ? 'refused' : 'a warning'}`, async () => {
      const fixture = await bedWith({ scripts: cgroupfs, kernel: 'hybrid-6.18' })
      const start = fixture.start([`--kubernetes-version=${kubernetes}`, ...flags])
      if (fails) await expect(start).rejects.toMatchObject({ code: 'host.cgroup-v1' })
      else {
        expect((await start).node?.cgroupVersion).toBe(1)
        expect(fixture.log.messages('warn').join('\n')).toContain('this host has cgroup v1')
      }
    })

  test('swap is refused unless failSwapOn is false', async () => {
    const fixture = await bedWith({ scripts: systemd })
    const { procfs } = fixture.ports
    const memInfo = () => new Map([...procfs.memInfo(), ['SwapTotal', 4096n] as const])
    fixture.ports = { ...fixture.ports, procfs: { ...procfs, memInfo } }
    await expect(fixture.start([])).rejects.toMatchObject({ code: 'host.swap' })
    await fixture.start(['--fail-swap-on=false'])
  })

  test('protectKernelDefaults: a start on other kernel settings is refused, each is named with its remedy', async () => {
    const fixture = await bedWith({ scripts: systemd })
    const set = new Map<string, string>([
      ...Object.entries(kernelDefaults),
      ['vm.overcommit_memory', '0'],
      ['kernel.panic', '0'],
    ])
    const { procfs } = fixture.ports
    fixture.ports = { ...fixture.ports, procfs: { ...procfs, sysctl: (name) => set.get(name) } }
    await fixture.start([])
    set.delete('kernel.keys.root_maxkeys')
    const refused = fixture.start(['--protect-kernel-defaults'])
    await expect(refused).rejects.toMatchObject({
      code: 'host.sysctl',
      message: expect.stringMatching(
        /vm\.overcommit_memory is 0, not 1, kernel\.panic is 0, not 10, kernel\.keys\.root_maxkeys is not there, not 1000000; run sysctl -w vm\.overcommit_memory=1 kernel\.panic=10 /,
      ),
    })
    for (const [name, value] of Object.entries(kernelDefaults)) set.set(name, value)
    await fixture.start(['--protect-kernel-defaults'])
  })

  test('oomScoreAdj is set only where it is asked for, and a host that refuses it does not end the start', async () => {
    const fixture = await bedWith({ scripts: systemd })
    await fixture.start([])
    expect(fixture.oomScores).toEqual([])
    await fixture.start(['--oom-score-adj=-999'])
    expect(fixture.oomScores).toEqual([-999])
    const setOomScoreAdj = (): never => {
      throw new Error('EACCES')
    }
    fixture.ports = { ...fixture.ports, host: { ...fixture.ports.host, setOomScoreAdj } }
    await fixture.start(['--oom-score-adj=-999'])
    expect(fixture.log.messages('warn').join('\n')).toContain('oomScoreAdj cannot be set')
  })

  test('an old kernel is named when Memory QoS is on, and only then', async () => {
    const fixture = await bedWith({ scripts: systemd })
    fixture.ports = {
      ...fixture.ports,
      procfs: { ...fixture.ports.procfs, osRelease: () => '5.4.0-1-amd64' },
    }
    await fixture.start([])
    expect(fixture.log.messages('warn').join('\n')).not.toContain('kernel 5.4')
    await fixture.start(['--feature-gates=MemoryQoS=true'])
    expect(fixture.log.messages('warn').join('\n')).toContain('kernel 5.4 is older than 5.9')
  })

  test('reservations beyond the capacity are a start error', async () => {
    const fixture = await bedWith({ scripts: systemd })
    await expect(fixture.start(['--system-reserved=memory=100Ti'])).rejects.toMatchObject({
      code: 'config.invalid',
    })
  })
})

describe('the runtime', () => {
  test('a gate in the file survives gates on the command line', async () => {
    const fixture = await bedWith({ scripts: systemd })
    const file = await fixture.write(
      'c.yaml',
      `${kubeletDocument}featureGates: {KubeletCgroupDriverFromCRI: false}\n`,
    )
    const flags = [`--config=${file}`, '--feature-gates=MemoryQoS=true', '--kubernetes-version=1.33']
    expect((await fixture.start(flags)).driver).toMatchObject({ driver: 'cgroupfs', source: 'default' })
    expect(fixture.runtime.callsOf('RuntimeConfig').length).toBe(0)
  })

  test('images have a socket of their own where one is named, and it must answer', async () => {
    const fixture = await bedWith({ scripts: systemd })
    const images = await startFakeRuntime({ ImageFsInfo: { value: {} } })
    try {
      const kubelet = await fixture.start([`--image-service-endpoint=${images.endpoint}`])
      expect(kubelet.images.socketPath).toBe(images.socketPath)
      images.script('ImageFsInfo', { code: 'UNIMPLEMENTED' })
      await expect(fixture.start([`--image-service-endpoint=${images.endpoint}`])).rejects.toThrow(
        'image service',
      )
    } finally {
      await images.close()
    }
    expect((await fixture.start([])).images.socketPath).toBe(fixture.runtime.socketPath)
  })

  test('RuntimeConfig is called with the request timeout as its deadline', async () => {
    const fixture = await bedWith({ scripts: systemd })
    await fixture.start(['--runtime-request-timeout=7s'])
    expect(fixture.runtime.callsOf('RuntimeConfig')[0]?.grpcTimeout).toMatch(/^(6\d{3}|7000)m$|^7S$/)
  })
})

describe('proof', () => {
  const id = 'b'.repeat(64)
  const paths = [`/kubepods/burstable/pod1/${id}`, `/x.slice:cri-containerd:${id}`, '/kubepods.slice/a.scope']

  async function nodeWithSandboxes(): Promise<KubeletFixture> {
    const state = createNodeState()
    const pids = paths.map((_, i) => {
      const metadata = { name: `p${i}`, namespace: 'default', uid: `u${i}`, attempt: 0 }
      return state.addSandbox({ metadata } as Parameters<typeof state.addSandbox>[0], '').pid
    })
    const stopped = state.addSandbox({} as Parameters<typeof state.addSandbox>[0], '')
    state.stopSandbox(stopped.status.id)
    const fixture = await bedWith({ scripts: { ...nodeAnswers(state), Version: version, ...systemd } })
    const cgroupOf = (pid: number) => {
      const unified = paths[pids.indexOf(pid)]
      return unified === undefined ? undefined : { unified, controllers: new Map<string, string>() }
    }
    fixture.ports = { ...fixture.ports, procfs: { ...fixture.ports.procfs, cgroupOf } }
    return fixture
  }

  test('sandboxes of the other driver and escaped ones are named, nothing is touched', async () => {
    const fixture = await nodeWithSandboxes()
    const { proof } = await fixture.start([])
    expect(proof?.agreeing).toBe(1)
    expect(proof?.findings.map((f) => [f.id, f.sandboxes?.length])).toEqual([
      ['sandboxes-under-other-driver', 1],
      ['sandboxes-outside-pod-cgroups', 1],
    ])
    expect(fixture.log.messages('warn').join('\n')).toContain('outside of all pod limits')
    expect(fixture.cgroups.calls).toEqual([])
    for (const method of ['StopPodSandbox', 'RemovePodSandbox', 'UpdateContainerResources'] as const)
      expect(fixture.runtime.callsOf(method)).toEqual([])
  })

  test('pods that start after the kubelet are compared too, and a list that fails takes nothing back', async () => {
    const state = createNodeState()
    const list = nodeAnswers(state).ListPodSandbox
    let isBroken = false
    const fixture = await bedWith({
      scripts: {
        ...nodeAnswers(state),
        Version: version,
        ...systemd,
        ListPodSandbox: (...call) =>
          isBroken || typeof list !== 'function' ? { code: 'INTERNAL' } : list(...call),
      },
    })
    const cgroupOf = () => ({ unified: '/kubepods.slice/a.scope', controllers: new Map<string, string>() })
    fixture.ports = { ...fixture.ports, procfs: { ...fixture.ports.procfs, cgroupOf } }
    await fixture.start([])
    const [served] = fixture.served
    if (served === undefined) throw new Error('nothing is served')
    const agreeing = async (): Promise<number | null> => {
      await fixture.clock.advance(11_000)
      const { keelson } = (await served.configz()) as {
        keelson: { cgroupDriver: { sandboxesThatAgree: number | null } }
      }
      return keelson.cgroupDriver.sandboxesThatAgree
    }
    expect(await agreeing()).toBe(0)
    const metadata = { name: 'late', namespace: 'default', uid: 'u', attempt: 0 }
    state.addSandbox({ metadata } as Parameters<typeof state.addSandbox>[0], '')
    await expect.poll(agreeing).toBe(1)
    isBroken = true
    const asked = fixture.runtime.callsOf('ListPodSandbox').length
    await expect
      .poll(async () => {
        await agreeing()
        return fixture.runtime.callsOf('ListPodSandbox').length
      })
      .toBeGreaterThan(asked + 2)
    expect(await agreeing()).toBe(1)
  })

  test('two pod trees with processes, below the cgroup root that is configured', async () => {
    const fixture = await bedWith({ scripts: systemd })
    for (const [i, path] of ['/a/kubepods/pod1', '/a.slice/a-kubepods.slice/x.scope'].entries()) {
      await fixture.cgroups.ensure(path)
      fixture.cgroups.write(path, 'cgroup.procs', String(1000 + i))
    }
    expect((await fixture.start([])).proof?.findings).toEqual([])
    const { proof } = await fixture.start(['--cgroup-root=/a'])
    expect(proof?.findings.map((f) => f.id)).toEqual(['both-pod-trees-in-use'])
  })

  test('a runtime that answers none of the questions proves nothing and stops nothing', async () => {
    const fixture = await bedWith({
      scripts: {
        ...systemd,
        ListPodSandbox: { code: 'INTERNAL' },
        Status: { value: { info: { config: '{' } } },
      },
    })
    expect((await fixture.start([])).proof).toEqual({ agreeing: 0, silent: 0, findings: [] })
  })
})

test('podsPerCore lowers the number of pods and never raises it', () => {
  expect(podLimit({ maxPods: 110, podsPerCore: 0 }, 4)).toBe(110)
  expect(podLimit({ maxPods: 110, podsPerCore: 10 }, 4)).toBe(40)
  expect(podLimit({ maxPods: 110, podsPerCore: 100 }, 4)).toBe(110)
})
