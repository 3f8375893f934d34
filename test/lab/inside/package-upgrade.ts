// 0.1.0 and this version in turns on one node: CRI server, kubelet and companion with the same files, sockets and state. The
// containers are the same ones to the end, no two versions work at once, and the first values come back. The kubelet has a tree of
// its own below `cgroupRoot`: with its gate off it keeps Memory QoS out of its pods' cgroups, the companion's are those of others.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createCriClient } from '../../../src/adapters/cri/client/client.js'
import { imageReferences } from '../../../src/lab/images/images.js'
import type { Check } from '../../support/check.js'
import { CompanionFixture, kubepods } from './companion-fixture.js'
import { cgroups, text } from './memory-qos-node.js'
import { endpoint } from './pod.js'
import { type Started, start, until } from './program.js'

type Version = 'KEELSON_OLD' | 'KEELSON_NEW'
const names = { KEELSON_OLD: '0.1.0', KEELSON_NEW: 'this version' } as const

const dir = '/run/upgrade'
const manifests = `${dir}/manifests`
const rootDir = `${dir}/root`
const socket = `${dir}/cri.sock`

const keelson = (version: Version, ...args: readonly string[]): Started =>
  start([process.execPath, process.env[version] ?? '', ...args])

const cri = (version: Version): Started =>
  keelson(version, 'cri', '--upstream', endpoint(), '--listen', `unix://${socket}`, '--port=0')
const kubelet = (version: Version): Started =>
  keelson(
    version,
    'kubelet',
    `--config=${dir}/kubelet.yaml`,
    `--keelson-config=${dir}/keelson.yaml`,
    `--root-dir=${rootDir}`,
    '--hostname-override=node-1',
  )
let made: CompanionFixture | undefined
const fixture = (): CompanionFixture => {
  assert.ok(made, 'an earlier check failed')
  return made
}
const machine = (): string[] => [
  '--state-dir',
  fixture().stateDir,
  '--container-runtime-endpoint',
  endpoint(),
]
const companion = (version: Version): Started =>
  keelson(version, 'companion', ...fixture().fromApi(), ...machine())
const rollback = (version: Version): Started => keelson(version, 'companion', 'rollback', ...machine())

interface Node {
  readonly version: Version
  readonly processes: readonly Started[]
}

async function startNode(version: Version): Promise<Node> {
  const server = cri(version)
  await until(
    'the CRI server answers',
    async () => {
      const client = createCriClient(`unix://${socket}`, { timeoutMs: 10_000 })
      try {
        return (await client.runtime.version({})).runtimeName
      } finally {
        client.close()
      }
    },
    server.output,
  )
  const agent = kubelet(version)
  await agent.says('the kubelet is up')
  const beside = companion(version)
  await beside.says(version === 'KEELSON_OLD' ? 'the companion is up' : 'companion started')
  return { version, processes: [server, agent, beside] }
}

async function stopNode(node: Node | undefined): Promise<void> {
  for (const process of node?.processes.toReversed() ?? []) await process.stop()
}

/** Straight from the runtime: id, when it was created and started, how often it was tried. */
async function containers(): Promise<readonly string[]> {
  const client = createCriClient(endpoint(), { timeoutMs: 60_000 })
  try {
    const { containers: list } = await client.runtime.listContainers({})
    const all = await Promise.all(
      list.map(async ({ id }) => (await client.runtime.containerStatus({ containerId: id })).status),
    )
    return all
      .map((s) => `${s?.metadata?.name} ${s?.id} ${s?.startedAt} ${s?.metadata?.attempt} ${s?.state}`)
      .sort()
  } finally {
    client.close()
  }
}

/** The memory.high of web: 32Mi + 0.9 x 64Mi in whole pages. */
const isApplied = (): true | undefined =>
  Object.values(fixture().everything()).includes('93949952') ? true : undefined

let node: Node | undefined
let first: readonly string[] = []

const theOther = (version: Version): Version => (version === 'KEELSON_OLD' ? 'KEELSON_NEW' : 'KEELSON_OLD')

/** The other version beside the one that runs: each of its parts is refused, and what runs goes on. */
async function refusesTheOther(): Promise<void> {
  assert.ok(node, 'an earlier check failed')
  const { version, processes } = node
  const other = theOther(version)
  for (const [what, begin] of [
    ['companion', companion],
    ['rollback', rollback],
    ['CRI server', cri],
    ['kubelet', kubelet],
  ] as const) {
    const attempt = begin(other)
    const status = await attempt.ended()
    assert.notEqual(status, 0, `${what} of ${names[other]} beside ${names[version]}:\n${attempt.output()}`)
    if (what === 'companion' || what === 'rollback') assert.match(attempt.output(), /companion\.busy/)
  }
  for (const process of processes) assert.equal(process.child.exitCode, null, process.output())
  assert.deepEqual(await containers(), first)
}

async function change(to: Version): Promise<void> {
  await stopNode(node)
  assert.deepEqual(await containers(), first, 'containers while nothing of ours runs')
  node = await startNode(to)
  // A pass of the new process with the state of the old one.
  cgroups.write(kubepods, 'memory.min', '0')
  await until(
    'a pass of the companion',
    () => (text(kubepods, 'memory.min') === '0' ? undefined : true),
    () => node?.processes.map((p) => p.output()).join('\n') ?? '',
  )
  assert.deepEqual(await containers(), first)
}

const timeoutMs = 1_500_000

export const checks: readonly Check[] = [
  {
    name: 'PKG-30 0.1.0 runs pods: CRI server, kubelet, companion',
    timeoutMs,
    async run() {
      for (const at of [manifests, rootDir, '/sys/fs/cgroup/node']) mkdirSync(at, { recursive: true })
      writeFileSync('/sys/fs/cgroup/node/cgroup.subtree_control', '+cpu +memory +pids +io')
      made = await CompanionFixture.start()
      const others = (await containers()).length
      writeFileSync(
        `${dir}/kubelet.yaml`,
        `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: cgroupfs
cgroupRoot: /node
staticPodPath: ${manifests}
podLogsDir: ${dir}/logs
failSwapOn: false
address: 127.0.0.1
containerRuntimeEndpoint: unix://${socket}
fileCheckFrequency: 1s
`,
      )
      writeFileSync(
        `${dir}/keelson.yaml`,
        `apiVersion: keelson.dev/v1alpha1
kind: KeelsonConfiguration
kubernetesVersion: "1.36"
profile: kep
staticPodResize: InPlace
companion:
  memoryReservationPolicy: TieredReservation
  memoryThrottlingFactor: 0.9
`,
      )
      const command = ['/bin/sh', '-c', 'trap "exit 0" TERM; while :; do sleep 1 & wait $!; done']
      const pod = (name: string, resources: object): void =>
        writeFileSync(
          `${manifests}/${name}.yaml`,
          JSON.stringify({
            apiVersion: 'v1',
            kind: 'Pod',
            metadata: { name },
            spec: { containers: [{ name, image: imageReferences.busybox, command, resources }] },
          }),
        )
      pod('web', { requests: { memory: '32Mi' }, limits: { memory: '96Mi' } })
      pod('db', { limits: { memory: '48Mi', cpu: '100m' } })
      const server = cri('KEELSON_OLD')
      const agent = kubelet('KEELSON_OLD')
      await agent.says('the kubelet is up')
      first = await until(
        'two more containers run',
        async () => {
          const all = await containers()
          return all.length === others + 2 && all.every((c) => c.endsWith(' 1')) ? all : undefined
        },
        () => `${agent.output()}\n${server.output()}`,
      )
      const beside = companion('KEELSON_OLD')
      await beside.says('the companion is up')
      node = { version: 'KEELSON_OLD', processes: [server, agent, beside] }
      await until('Memory QoS values', isApplied, beside.output)
    },
  },
  {
    name: 'PKG-31 while 0.1.0 runs, every part of this version is refused',
    timeoutMs,
    run: refusesTheOther,
  },
  {
    name: 'PKG-32 upgrade: the same files and state, the same containers, values kept',
    timeoutMs,
    async run() {
      await change('KEELSON_NEW')
      await until('Memory QoS values', isApplied)
    },
  },
  {
    name: 'PKG-33 while this version runs, every part of 0.1.0 is refused',
    timeoutMs,
    run: refusesTheOther,
  },
  {
    name: 'PKG-34 back to 0.1.0, and up again: no container was restarted',
    timeoutMs,
    async run() {
      await change('KEELSON_OLD')
      await change('KEELSON_NEW')
    },
  },
  {
    name: 'PKG-35 the rollback of this version restores what 0.1.0 found',
    timeoutMs,
    async run() {
      assert.ok(node, 'an earlier check failed')
      await node.processes[2]?.stop()
      const undo = rollback('KEELSON_NEW')
      assert.equal(await undo.ended(), 0, undo.output())
      assert.deepEqual(fixture().everything(), fixture().first)
      assert.deepEqual(await containers(), first)
      await stopNode(node)
    },
  },
]
