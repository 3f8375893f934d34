// Commands against a runtime that speaks CRI over its socket: preflight asks it, reset has it remove the pods.
import { mkdir, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Scripts } from '../../src/fakes/cri/answers.js'
import { type FakeRuntime, startFakeRuntime } from '../../src/fakes/cri/fake-runtime.js'
import type { HostFacts } from '../../src/ports/bootstrap.js'
import {
  clusterWith,
  configPath,
  createTestNode,
  crio,
  instancePath,
  kubeletDocument,
  runWired,
  useTestNode,
} from './fixture.js'

const node = useTestNode()
let runtime: FakeRuntime | undefined
afterEach(async () => {
  await runtime?.close()
  runtime = undefined
})

async function startAt(path: string, scripts: Scripts): Promise<FakeRuntime> {
  const socketPath = join(node.root, path)
  await mkdir(dirname(socketPath), { recursive: true })
  runtime = await startFakeRuntime(scripts, { socketPath })
  return runtime
}

const version = {
  value: { version: '0.1.0', runtimeName: 'cri-o', runtimeVersion: '1.36.0', runtimeApiVersion: 'v1' },
}

describe('reset', () => {
  test('stops and removes every pod through the socket of the instance file, and goes on when one stays', async () => {
    const rt = await startAt('/var/run/crio/crio.sock', {
      Version: version,
      ListPodSandbox: { value: { items: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] } },
      StopPodSandbox: (q) =>
        q.podSandboxId === 'b' ? { code: 'INTERNAL', message: 'stuck' } : { value: {} },
      RemovePodSandbox: { value: {} },
    })
    await node.put(instancePath, `containerRuntimeEndpoint: "${crio}"\n`)
    await node.put(configPath, kubeletDocument(crio))
    const result = await node.run('reset', '--force')
    expect(result).toMatchObject({ status: 0, stderr: '' })
    expect(rt.callsOf('RemovePodSandbox').map((c) => c.request.podSandboxId)).toEqual(['a', 'c'])
    expect(result.stdout).toContain(`removed 2 pods from ${crio}`)
    expect(result.stdout).toMatch(/failed to remove a pod: b: .*stuck/)
    expect(await node.read(configPath)).toBeUndefined()
  })

  test('a link inside is removed and not followed; a linked kubelet directory is emptied where it leads', async () => {
    await node.put('/data/kubelet/config.yaml', 'x')
    await node.put('/home/keep', 'x')
    await mkdir(join(node.root, 'var/lib'), { recursive: true })
    await symlink('/data/kubelet', join(node.root, 'var/lib/kubelet'))
    await symlink('/home', join(node.root, 'data/kubelet/home'))
    const result = await node.run('reset', '--force', '--cri-socket', crio)
    expect(result).toMatchObject({ status: 0, stderr: '' })
    expect(await node.read('/data/kubelet/config.yaml')).toBeUndefined()
    expect(await node.read('/home/keep')).toBe('x')
  })
})

describe('preflight', () => {
  const host: HostFacts = {
    os: 'linux',
    hostname: 'node-1',
    kernelRelease: '6.1.0',
    cgroupV2: true,
    kubeletVersion: 'v1.36.2',
    privileged: true,
  }
  const upgrade = (facts: Partial<HostFacts>, ...more: string[]) =>
    runWired(
      node,
      (ports) => ({
        ...ports,
        cluster: clusterWith({ annotation: crio }),
        host: async () => ({ ...host, ...facts }),
      }),
      ['upgrade', 'node', '--kubernetes-version', '1.36', ...more],
    )

  beforeEach(async () => {
    await node.put(instancePath, `containerRuntimeEndpoint: "${crio}"\n`)
    await node.put(configPath, kubeletDocument(crio))
  })

  test('a sound node passes every check', async () => {
    await startAt('/var/run/crio/crio.sock', { Version: version, RuntimeConfig: { value: {} } })
    const { error, report } = await upgrade({})
    expect(error).toBeUndefined()
    expect(report.preflight).toEqual(
      [
        'privileged-user',
        'runtime-answers',
        'runtime-config',
        'several-runtimes',
        'stale-endpoint-flag',
        'kubelet-skew',
        'kernel',
        'cgroup-v2',
      ].map((name) => ({ name, level: 'ok' })),
    )
  })

  test('errors stop the command by name, all of them at once, and can be ignored by name', async () => {
    const before = await node.files()
    const bad = { privileged: false, kubeletVersion: 'v1.32.0', cgroupV2: false }
    const { error } = await upgrade(bad)
    for (const name of ['privileged-user', 'runtime-answers', 'kubelet-skew', 'cgroup-v2'])
      expect(error?.message).toContain(`${name}: `)
    expect(await node.files()).toEqual(before)
    const ignored = await upgrade(
      bad,
      '--ignore-preflight-errors',
      'privileged-user,runtime-answers,kubelet-skew,cgroup-v2',
    )
    expect(ignored.error).toBeUndefined()
    const typo = await upgrade(bad, '--ignore-preflight-errors', 'kubelet-skw')
    expect(typo.error?.message).toMatch(/unknown check kubelet-skw; did you mean kubelet-skew/)
  })

  test('a runtime that does not know RuntimeConfig is a warning', async () => {
    await startAt('/var/run/crio/crio.sock', { Version: version })
    const { error, report } = await upgrade({})
    expect(error).toBeUndefined()
    expect(report.preflight).toContainEqual(
      expect.objectContaining({
        name: 'runtime-config',
        level: 'warning',
        message: 'cri-o 1.36.0 does not implement RuntimeConfig',
      }),
    )
  })

  test('what answers without speaking CRI is an error', async () => {
    await node.listen(crio)
    const { error } = await upgrade({})
    expect(error?.message).toMatch(/runtime-answers: the server at .*crio\.sock does not implement CRI v1/)
  })
})

test('the socket of a root with a very long path is found all the same', async () => {
  const deep = await createTestNode()
  try {
    const long = join(deep.root, 'x'.repeat(120))
    await mkdir(join(long, 'etc'), { recursive: true })
    const { createRuntimeSockets, withSocketAddress } = await import(
      '../../src/adapters/node-root/runtime-sockets.js'
    )
    await mkdir(join(long, 'var/run/crio'), { recursive: true })
    const { createServer } = await import('node:net')
    const server = createServer((s) => s.destroy())
    await withSocketAddress(
      join(long, 'var/run/crio/crio.sock'),
      (address) => new Promise<void>((done) => server.listen(address, done)),
    )
    expect(await createRuntimeSockets(long).answers(crio)).toBe(true)
    await new Promise((done) => server.close(done))
    expect(await createRuntimeSockets(long).answers(crio)).toBe(false)
  } finally {
    await deep.close()
  }
})
