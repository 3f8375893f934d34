// Beside a private containerd: real pods with the labels that a kubelet gives, seen by cAdvisor and by our cgroup source.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readCgroupLayout } from '../../src/adapters/cgroups/detect.js'
import { createCgroupTree } from '../../src/adapters/cgroups/tree.js'
import { createClock } from '../../src/adapters/clock/clock.js'
import { createProcfs } from '../../src/adapters/procfs/procfs.js'
import { createStatsFiles } from '../../src/adapters/stats-files/stats-files.js'
import type { DeepPartial, LinuxContainerResources } from '../../src/cri-api/api.js'
import { FakeLog } from '../../src/fakes/log.js'
import { readMachine } from '../../src/kubelet/node/node-stats.js'
import type { CriClient } from '../../src/ports/runtime.js'
import { createProcessMetrics } from '../../src/serve/process-metrics.js'
import { createStats, type Stats } from '../../src/stats/create-stats.js'
import { decodePieces } from '../../src/stats/render/text-bytes.js'
import { connect, MiB, podSandboxConfig } from '../../test/lab/inside/pod.js'
import type { Check } from '../../test/support/check.js'
import { compareWithCadvisor, type Difference } from './compare.js'
import { explain } from './known-differences.js'

const out = process.env.LAB_OUT ?? '.'
const rests = 'while :; do sleep 1000 & wait $!; done'
/** Works, writes and reads, is throttled, and then rests. */
const works = `trap "exit 0" TERM; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; dd if=/dev/zero of=/f bs=1M count=8 conv=fsync 2>/dev/null; cat /f >/dev/null; ${rests}`

interface PodPlan {
  readonly name: string
  readonly containers: Readonly<Record<string, DeepPartial<LinuxContainerResources>>>
}

const limited = {
  memoryLimitInBytes: BigInt(96 * MiB),
  cpuShares: 256n,
  cpuQuota: 50_000n,
  cpuPeriod: 100_000n,
}
const plans: readonly PodPlan[] = [
  { name: 'conformance-a', containers: { app: limited, sidecar: { cpuShares: 102n } } },
  { name: 'conformance-b', containers: { app: {} } },
]
const names = plans.map((p) => p.name)
let connection: CriClient | undefined
const client = (): CriClient => {
  connection ??= connect()
  return connection
}
const sandboxes: string[] = []
let cadvisor: { readonly child: ChildProcess; readonly url: string } | undefined
let stats: Stats | undefined
const stop = new AbortController()
let loops: Promise<void> | undefined
const texts = { before: '', ours: '', after: '' }

async function startPod({ name, containers }: PodPlan): Promise<void> {
  const common = {
    'io.kubernetes.pod.name': name,
    'io.kubernetes.pod.namespace': 'default',
    'io.kubernetes.pod.uid': name,
  }
  const config = {
    ...(await podSandboxConfig({ name, cgroupParent: `/kubepods/burstable/pod${name}` })),
    labels: common,
  }
  const { podSandboxId } = await client().runtime.runPodSandbox({ config })
  sandboxes.push(podSandboxId)
  for (const [container, resources] of Object.entries(containers)) {
    const { containerId } = await client().runtime.createContainer({
      podSandboxId,
      sandboxConfig: config,
      config: {
        metadata: { name: container, attempt: 0 },
        image: { image: 'keelson.local/busybox:1' },
        command: ['/bin/sh', '-c', works],
        logPath: `${container}.log`,
        labels: { ...common, 'io.kubernetes.container.name': container },
        linux: { resources },
      },
    })
    await client().runtime.startContainer({ containerId })
  }
}

/** User-mode Linux names no clock speed, and cAdvisor does not start without one. */
function nameClockSpeed(): void {
  const known = readFileSync('/proc/cpuinfo', 'utf8')
  if (known.includes('cpu MHz')) return
  const file = join(out, 'cpuinfo')
  writeFileSync(file, known.replace(/^model name.*$/m, '$&\ncpu MHz\t\t: 1000.000'))
  const { status, stderr } = spawnSync('mount', ['--bind', file, '/proc/cpuinfo'], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`mount over /proc/cpuinfo: ${stderr}`)
}

async function startCadvisor(): Promise<{ child: ChildProcess; url: string }> {
  nameClockSpeed()
  const socket = (process.env.CONTAINER_RUNTIME_ENDPOINT ?? '').replace('unix://', '')
  const child = spawn(
    join(out, 'bin/cadvisor'),
    [
      `-containerd=${socket}`,
      '-roots=/kubepods',
      '-metrics=cpu,memory,disk,diskIO,network,process,oom_event,pressure',
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const [line] = (await once(child.stdout, 'data', { signal: AbortSignal.timeout(60_000) })) as [Buffer]
  return { child, url: `http://${line.toString().trim()}/metrics` }
}

async function startOurs(): Promise<Stats> {
  const procfs = createProcfs()
  const statsFiles = createStatsFiles()
  return createStats({
    nodeName: 'lab',
    client: client(),
    cgroups: createCgroupTree(readCgroupLayout()),
    procfs,
    files: statsFiles,
    clock: createClock(),
    log: new FakeLog(),
    metrics: await createProcessMetrics({ processDefaults: false }),
    fromCri: false,
    periodMs: 5_000,
    filesystemPeriodMs: 10_000,
    machine: await readMachine({ procfs, statsFiles }),
    podRoots: ['/kubepods'],
    slices: ['/kubepods', '/kubepods/burstable'],
  })
}

const scrapeCadvisor = async (): Promise<string> => (await fetch(cadvisor?.url ?? '')).text()
const scrapeOurs = async (): Promise<string> => decodePieces((await stats?.cadvisor(20_000)) ?? [])

const unexplained = (all: readonly Difference[]): Difference[] => all.filter((d) => explain(d) === undefined)

export const checks: readonly Check[] = [
  {
    name: 'pods run; cAdvisor and Keelson watch them',
    timeoutMs: 180_000,
    async run() {
      for (const plan of plans) await startPod(plan)
      // They rest by now, so that memory and files stand still while they are compared.
      await sleep(15_000)
      cadvisor = await startCadvisor()
      stats = await startOurs()
      loops = stats.run(stop.signal)
      await sleep(25_000)
    },
  },
  {
    name: 'both are read: cAdvisor before, Keelson between, cAdvisor after',
    timeoutMs: 120_000,
    async run() {
      texts.before = await scrapeCadvisor()
      await sleep(11_000)
      texts.ours = await scrapeOurs()
      await sleep(17_000)
      texts.after = await scrapeCadvisor()
      for (const [name, text] of Object.entries(texts)) writeFileSync(join(out, `${name}.txt`), text)
      for (const name of names)
        assert.ok(texts.before.includes(`pod="${name}"`), `cAdvisor does not see ${name}`)
    },
  },
  {
    name: 'every series of every family that both have agrees, or its difference is on the page',
    async run() {
      const { differences, families, series, oursOnlyFamilies, cadvisorOnlyFamilies } = compareWithCadvisor(
        texts,
        names,
      )
      assert.ok(families > 30, `${families} families`)
      assert.deepEqual(unexplained(differences), [])
      const explained: Record<string, number> = {}
      for (const d of differences) {
        const name = explain(d) ?? ''
        explained[name] = (explained[name] ?? 0) + 1
      }
      return { families, series, explained, oursOnlyFamilies, cadvisorOnlyFamilies }
    },
  },
  {
    name: 'all ends',
    async run() {
      stop.abort(new Error('over'))
      await loops
      cadvisor?.child.kill('SIGKILL')
      for (const podSandboxId of sandboxes) {
        await client().runtime.stopPodSandbox({ podSandboxId })
        await client().runtime.removePodSandbox({ podSandboxId })
      }
      client().close()
    },
  },
]
