// Facts from real readers: a cgroup tree with the kernel's rules, a runtime on a socket, and the command on top.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { askPort } from '../../src/adapters/diagnosis/ask-port.js'
import { readKubeletCommand } from '../../src/adapters/diagnosis/kubelet-process.js'
import { createDoctorCommand } from '../../src/cli/doctor/command.js'
import { checks } from '../../src/doctor/checks/index.js'
import type { DoctorPorts } from '../../src/doctor/doctor-ports.js'
import { parseUnified } from '../../src/doctor/gather/runtime.js'
import { gatherFacts } from '../../src/doctor/gather.js'
import { FakeCgroupTree } from '../../src/fakes/cgroup-tree.js'
import type { Scripts } from '../../src/fakes/cri/answers.js'
import { type FakeRuntime, startFakeRuntime } from '../../src/fakes/cri/fake-runtime.js'
import { runtimeConfig } from '../../src/fakes/cri/shapes.js'
import { requiredMetrics } from '../../src/stats/catalogue/required.js'
import { containerId, containerPath, kubelet, loadedWith, MiB, podPath } from './healthy.js'
import { fakePorts } from './ports.js'

const sandboxId = 'a'.repeat(64)
const info = (value: object) => ({ info: { info: JSON.stringify(value) } })
const scripts: Scripts = {
  Version: { value: { version: '0.1.0', runtimeName: 'containerd', runtimeVersion: '2.0.1' } },
  Status: { value: { status: { conditions: [{ type: 'RuntimeReady', status: true }] } } },
  RuntimeConfig: runtimeConfig.cgroupfs,
  ListPodSandbox: { value: { items: [{ id: sandboxId, metadata: { name: 'web', namespace: 'default' } }] } },
  PodSandboxStatus: { value: info({ pid: 42 }) },
  ListContainers: {
    value: {
      containers: [
        {
          id: containerId,
          labels: {
            'io.kubernetes.pod.namespace': 'default',
            'io.kubernetes.pod.name': 'web',
            'io.kubernetes.container.name': 'app',
          },
        },
      ],
    },
  },
  ContainerStatus: {
    value: info({ config: { linux: { resources: { unified: { 'memory.high': String(190n * MiB) } } } } }),
  },
  ListMetricDescriptors: { value: { descriptors: requiredMetrics.map((name) => ({ name })) } },
}

let runtime: FakeRuntime | undefined
let server: Server | undefined
afterEach(async () => {
  await runtime?.close()
  server?.close()
  runtime = undefined
  server = undefined
})

async function podTree(): Promise<FakeCgroupTree> {
  const tree = new FakeCgroupTree()
  await tree.ensure(containerPath)
  await tree.ensure(`${podPath}/${sandboxId}`)
  for (const path of ['/kubepods', '/kubepods/burstable', podPath, containerPath])
    tree.write(path, 'memory.min', String(64n * MiB))
  tree.write(containerPath, 'memory.high', String(190n * MiB))
  return tree
}

async function node(
  over: Scripts = {},
): Promise<{ ports: ReturnType<typeof fakePorts>; tree: FakeCgroupTree }> {
  runtime = await startFakeRuntime({ ...scripts, ...over })
  const tree = await podTree()
  const processes = new Map([[42, `${podPath}/${sandboxId}`]])
  return { ports: fakePorts({ cgroups: tree, endpoint: runtime.endpoint, processes }), tree }
}

const never = new AbortController().signal
const gather = (ports: DoctorPorts) => gatherFacts(ports, { signal: never, waitMs: 5 })

describe('facts', () => {
  test('of the pods: values, parents and the ids in their names', async () => {
    const { ports } = await node()
    const { cgroups } = await gather(ports)
    expect(cgroups?.podTrees).toEqual({ cgroupfs: '/kubepods', systemd: undefined })
    expect(cgroups?.pods.map((c) => c.path)).toContain(containerPath)
    expect(cgroups?.pods.find((c) => c.path === containerPath)).toMatchObject({
      parent: podPath,
      containerId,
      min: 64n * MiB,
      high: 190n * MiB,
    })
    expect(cgroups?.topLevel).toContainEqual({ path: '/kubepods', min: 64n * MiB })
  })

  test('of the runtime: driver, proof, unified values, metrics', async () => {
    const { ports } = await node()
    const facts = await gather(ports)
    expect(facts.runtime).toEqual({ name: 'containerd', version: '2.0.1', runtimeConfig: 'known' })
    expect(facts.runtimeFacts).toMatchObject({
      driver: { kind: 'driver', driver: 'cgroupfs' },
      sandboxes: [{ id: sandboxId, pod: 'default/web', path: `${podPath}/${sandboxId}` }],
      containers: [{ name: 'default/web/app', unified: { 'memory.high': String(190n * MiB) } }],
    })
    expect(facts.runtimeFacts?.descriptors).toEqual({ kind: 'listed', names: requiredMetrics })
  })

  test('a cgroup that goes between the two looks is left out', async () => {
    const { ports, tree } = await node()
    const gone = gatherFacts(ports, { signal: never, waitMs: 300 })
    await new Promise((done) => setTimeout(done, 150))
    await tree.remove(`${podPath}/${sandboxId}`)
    expect((await gone).cgroups?.pods.map((c) => c.path)).not.toContain(`${podPath}/${sandboxId}`)
  })

  test('no runtime, no cgroups: said and not thrown', async () => {
    const { ports } = await node()
    const facts = await gather({
      ...ports,
      sockets: async () => {
        const s = await ports.sockets()
        return { ...s, wins: { ...s.wins, endpoint: 'unix:///nowhere/cri.sock', answers: false } }
      },
    })
    expect(facts.runtime).toBeUndefined()
    expect(facts.endpointAnswers).toBe(false)
  })

  test('a runtime that hangs costs its deadline and nothing else', async () => {
    const { ports } = await node({ ListMetricDescriptors: { hang: true }, Status: { hang: true } })
    const began = performance.now()
    const facts = await gather(ports)
    expect(performance.now() - began).toBeLessThan(10_000)
    expect(facts.runtimeFacts?.descriptors.kind).toBe('failed')
    expect(facts.runtimeFacts?.conditions[0]?.status).toBe(false)
  })
})

describe('the command', () => {
  async function doctor(ports: DoctorPorts, ...argv: string[]) {
    let stdout = ''
    let stderr = ''
    const io = {
      stdout: { write: (t: string) => (stdout += t) },
      stderr: { write: (t: string) => (stderr += t) },
      stdin: process.stdin,
      env: {},
      exitCode: 0,
    }
    await createDoctorCommand(io, async () => ports)
      .exitOverride()
      .parseAsync(argv, { from: 'user' })
    return { status: io.exitCode, stdout, stderr }
  }

  test('a sound node: no finding, status 0', async () => {
    const { ports } = await node()
    const ran = await doctor(ports)
    expect(ran.stdout).not.toMatch(/^(WARN|ERROR)/m)
    expect(ran.stdout).toMatch(new RegExp(`${checks.length} checks: 0 errors, 0 warnings`))
    expect(ran.status).toBe(0)
  })

  test('JSON has question, findings and page of each check', async () => {
    const { ports, tree } = await node()
    tree.write('/kubepods', 'memory.min', '0')
    const ran = await doctor(ports, '-o', 'json')
    expect(ran.status).toBe(4)
    const report = JSON.parse(ran.stdout) as { checks: { name: string; severity: string; page: string }[] }
    expect(report.checks).toHaveLength(checks.length)
    expect(report.checks.find((c) => c.name === 'protection-chain')).toMatchObject({
      severity: 'error',
      page: 'docs/doctor/protection-chain.md',
    })
  })

  test('a chosen check alone, and the list', async () => {
    const { ports } = await node()
    expect((await doctor(ports, '--checks', 'kernel,psi', '--skip', 'psi')).stdout).toMatch(/1 check:/)
    expect((await doctor(ports, '--list')).stdout.trim().split('\n')).toHaveLength(checks.length)
  })

  test('--fix clears left-over values, says so, and the second look is clean', async () => {
    const { ports, tree } = await node()
    const { loaded } = kubelet({ loaded: loadedWith('', { flags: ['--feature-gates=MemoryQoS=false'] }) })
    const off: DoctorPorts = {
      ...ports,
      findConfig: async () => ({ loaded, source: 'a file', unreadable: undefined }),
    }
    expect((await doctor(off, '--checks', 'stale-values')).status).toBe(3)
    const ran = await doctor(off, '--checks', 'stale-values', '--fix', 'stale-values')
    expect(ran.stderr).toContain('fixed: write memory.high=max to')
    expect(ran.status).toBe(0)
    expect(tree.kernel.text(containerPath, 'memory.high')).toBe('max')
    expect((await doctor(off, '--fix', 'stale-values')).stderr).toContain('nothing to fix')
  })

  test('--fix of something else is refused with what there is', async () => {
    const { ports } = await node()
    await expect(doctor(ports, '--fix', 'kernel')).rejects.toThrow(/no safe fix for this check.*stale-values/)
  })
})

describe('this machine', () => {
  test('kubelets are told from other commands', () => {
    expect(readKubeletCommand(['/usr/bin/kubelet', '--v=2'])).toEqual({ kind: 'upstream', args: ['--v=2'] })
    expect(readKubeletCommand(['node', '/x/dist/cli/main.js', 'kubelet', '--v', '4'])).toEqual({
      kind: 'keelson',
      args: ['--v', '4'],
    })
    expect(readKubeletCommand(['journalctl', '-u', 'kubelet'])).toBeUndefined()
    expect(readKubeletCommand(['vim', 'kubelet'])).toBeUndefined()
  })

  test('a port is asked without credentials: its status, closed, or silent', async () => {
    const question = { what: 'read-only', address: '127.0.0.1', tls: false, path: '/pods' } as const
    server = createServer((request, response) => {
      if (request.url !== '/pods') return
      response.statusCode = 403
      response.end()
    })
    await new Promise<void>((done) => server?.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    expect((await askPort({ ...question, port }, 10_000)).answer).toBe(403)
    expect((await askPort({ ...question, port, path: '/hang' }, 100)).answer).toBe('silent')
    expect((await askPort({ ...question, port, tls: true }, 1000)).answer).toBe('silent')
    await new Promise((done) => server?.close(done))
    expect((await askPort({ ...question, port }, 10_000)).answer).toBe('closed')
  })

  test('unified values from a verbose status, whatever else it holds', () => {
    expect(parseUnified(undefined)).toBeUndefined()
    expect(parseUnified('no json')).toBeUndefined()
    expect(parseUnified('{"config":{}}')).toBeUndefined()
    expect(parseUnified('{"config":{"linux":{"resources":{"unified":{"memory.high":"1","x":2}}}}}')).toEqual({
      'memory.high': '1',
    })
  })
})
