// Inside an environment: two pods, then `keelson doctor parity` against the runtime through `keelson cri`, once with values that
// are passed on and once with repaired ones.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import type { FamilyParity } from '../../src/doctor/metrics/parity.js'
import type { CriClient } from '../../src/ports/runtime.js'
import { check, directEndpoint, endProcess, image, out, serverEndpoint, startServer } from '../matrix/node.js'
import { driverOf, type Place, type RuntimeName } from '../node-environment/plan.js'
import { runCommand } from '../process.js'

export interface ValuesPlan {
  readonly keelson: string
  readonly runtime: RuntimeName
  readonly place: Place
}

interface Parity {
  readonly same: number
  readonly notCompared: readonly { readonly endpoint: string; readonly why: string }[]
  readonly families: readonly (FamilyParity & { readonly result: string })[]
}

const { keelson, runtime, place } = JSON.parse(process.argv[2] ?? '{}') as ValuesPlan
const MiB = 1024 * 1024
/** Works, writes and reads; then it rests, so that what is compared stands still. */
const works =
  'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; dd if=/dev/zero of=/f bs=1M count=8 conv=fsync 2>/dev/null; cat /f >/dev/null; while :; do sleep 1000; done'

const parentOf = (name: string): string =>
  driverOf(place) === 'systemd' ? `kubepods-burstable-pod${name}.slice` : `/kubepods/burstable/pod${name}`

async function startPod(client: CriClient, name: string, memoryLimit: number): Promise<void> {
  const labels = {
    'io.kubernetes.pod.name': name,
    'io.kubernetes.pod.namespace': 'default',
    'io.kubernetes.pod.uid': name,
  }
  const logDirectory = join(out, 'logs', name)
  await mkdir(logDirectory, { recursive: true })
  const config = {
    metadata: { name, uid: name, namespace: 'default', attempt: 0 },
    hostname: name,
    logDirectory,
    labels,
    linux: { cgroupParent: parentOf(name) },
  }
  await client.image.pullImage({ image: { image } })
  const { podSandboxId } = await client.runtime.runPodSandbox({ config })
  const { containerId } = await client.runtime.createContainer({
    podSandboxId,
    sandboxConfig: config,
    config: {
      metadata: { name: 'main' },
      image: { image, userSpecifiedImage: image },
      command: ['/bin/sh', '-c', works],
      logPath: 'main.log',
      labels: { ...labels, 'io.kubernetes.container.name': 'main' },
      linux:
        memoryLimit === 0
          ? {}
          : {
              resources: { memoryLimitInBytes: BigInt(memoryLimit), cpuQuota: 50_000n, cpuPeriod: 100_000n },
            },
    },
  })
  await client.runtime.startContainer({ containerId })
}

const runKeelson = (...args: readonly string[]) =>
  runCommand(process.execPath, [keelson, ...args], { timeoutMs: 120_000, accept: [0, 1, 2, 3, 4] })

async function parity(endpoint: string): Promise<Parity> {
  const { stdout, stderr } = await runKeelson(
    'doctor',
    'parity',
    '--runtime-endpoint',
    endpoint,
    '-o',
    'json',
  )
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout) as Parity
}

const described = (f: Parity['families'][number]): string => {
  const [one] = f.outside
  const example =
    one === undefined
      ? (f.onlyCgroup[0] ?? f.onlyRuntime[0] ?? '')
      : `${one.block} runtime ${one.runtime}, cgroup ${one.cgroup.join(' to ')}`
  // The labels that every series has say nothing about the difference.
  const telling = example.replaceAll(/\b(id|image|name|namespace)="[^"]*",?/g, '')
  return `${f.name}: ${f.result}: ${telling}`
}

async function through(
  values: 'repair' | 'trust',
  look: (endpoint: string) => Promise<unknown>,
): Promise<unknown> {
  const listen = `${serverEndpoint}.${values}`
  const server = await startServer(keelson, runtime, { listen, values })
  try {
    // Rates and layers are there after some samples.
    await sleep(15_000)
    return await look(listen)
  } finally {
    await endProcess(server, 'SIGKILL')
  }
}

const client = createCriClient(directEndpoint(runtime), { timeoutMs: 120_000 })
let who = ''
await check('two pods run, one with limits', async () => {
  await startPod(client, 'limited', 64 * MiB)
  await startPod(client, 'unlimited', 0)
  const { runtimeName, runtimeVersion } = await client.runtime.version({})
  who = `${runtimeName} ${runtimeVersion}`
  await sleep(12_000)
  return { runtime: who }
})
await check('repair: doctor parity finds no difference', () =>
  through('repair', async (endpoint) => {
    const { families, notCompared, same } = await parity(endpoint)
    const different = families.filter((f) => f.result !== 'same').map(described)
    if (different.length > 0) throw new Error(different.join('\n'))
    if (notCompared.length > 0) throw new Error(JSON.stringify(notCompared))
    if (same < 50) throw new Error(`only ${same} families`)
    return { same }
  }),
)
await check('trust: doctor parity names a known defect for each difference', () =>
  through('trust', async (endpoint) => {
    const { families, same } = await parity(endpoint)
    const different = families.filter((f) => f.result !== 'same')
    const unnamed = different.filter((f) => f.defects.length === 0).map(described)
    if (unnamed.length > 0) throw new Error(unnamed.join('\n'))
    return {
      same,
      different: different.length,
      defects: [...new Set(different.flatMap((f) => f.defects))].sort(),
    }
  }),
)
await check('trust: plain doctor warns about wrong values', () =>
  through('trust', async (endpoint) => {
    const { stdout } = await runKeelson('doctor', '--runtime-endpoint', endpoint, '-o', 'json')
    const line = /"[^"]*is known to report \d+ wrong values[^"]*"/.exec(stdout)?.[0]
    if (line === undefined) throw new Error(`no warning: ${stdout.slice(0, 500)}`)
    return { warning: line }
  }),
)
client.close()
process.exit(0)
