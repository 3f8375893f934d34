// The kubelet's start-up in a test: real configuration files in a temporary directory, the real CRI client against a
// scripted runtime on a unix socket, and a host made of captured kernel files. Only clock, log and API server are fakes.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createCertificates } from '../../src/adapters/certificates/certificates.js'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { createFiles } from '../../src/adapters/files/files.js'
import { relayUpgrade } from '../../src/adapters/http/relay-upgrade.js'
import { createKubeconfigs } from '../../src/adapters/kubeapi/node-kubeconfig.js'
import { createPodHost } from '../../src/adapters/pods/pod-host.js'
import { createProbeCalls } from '../../src/adapters/probes/probe-calls.js'
import { createProcfs } from '../../src/adapters/procfs/procfs.js'
import { createPrograms } from '../../src/adapters/programs/programs.js'
import { createVolumeHost } from '../../src/adapters/volumes/volume-host.js'
import type { CgroupDriver } from '../../src/core/cgroup/name.js'
import { FakeCgroupTree } from '../../src/fakes/cgroup-tree.js'
import { FakeClock } from '../../src/fakes/clock.js'
import type { Scripts } from '../../src/fakes/cri/answers.js'
import { type FakeRuntime, startFakeRuntime } from '../../src/fakes/cri/fake-runtime.js'
import { FakeKubeApi } from '../../src/fakes/kube-api.js'
import { FakeLog } from '../../src/fakes/log.js'
import { FakeLogind } from '../../src/fakes/logind.js'
import type { KubeletPorts, KubeletServeOptions } from '../../src/kubelet/kubelet-ports.js'
import { readKubeletConfig } from '../../src/kubelet/read-config.js'
import { type RunningKubelet, startKubelet } from '../../src/kubelet/start.js'
import type { Metrics } from '../../src/ports/metrics.js'
import { createProcessMetrics } from '../../src/serve/process-metrics.js'
import { noFiles } from './stats-fixture.js'

export const kubeletDocument = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
export const keelsonDocument = 'apiVersion: keelson.dev/v1alpha1\nkind: KeelsonConfiguration\n'

export interface KubeletFixtureOptions {
  readonly scripts?: Scripts
  readonly os?: 'linux' | 'windows'
  readonly systemd?: boolean
  /** Folder of test/fixtures/procfs. */
  readonly kernel?: string
}

/** Notes every wait, so that a test sees what would have taken time. */
class NotingClock extends FakeClock {
  readonly waits: number[] = []

  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.waits.push(ms)
    return super.sleep(ms, signal)
  }
}

export interface KubeletFixture {
  readonly directory: string
  readonly runtime: FakeRuntime
  readonly clock: NotingClock
  readonly log: FakeLog
  readonly metrics: Metrics
  readonly cgroups: FakeCgroupTree
  /** Drivers with which the cgroup tree was opened, with the number of RuntimeConfig calls before. */
  readonly opened: { readonly driver: CgroupDriver; readonly after: number }[]
  /** The cluster that --kubeconfig leads to. */
  readonly kubeApi: FakeKubeApi
  readonly served: KubeletServeOptions[]
  /** What the kubelet set its own oom_score_adj to. */
  readonly oomScores: readonly number[]
  /** Replaced by tests that need another view of processes. */
  ports: KubeletPorts
  write(path: string, text: string): Promise<string>
  start(flags: readonly string[], env?: Readonly<Record<string, string>>): Promise<RunningKubelet>
  close(): Promise<void>
}

export const version = {
  value: { version: '0.1.0', runtimeName: 'scripted', runtimeVersion: 'v0.0.0', runtimeApiVersion: 'v1' },
} as const

export async function createKubeletFixture(options: KubeletFixtureOptions = {}): Promise<KubeletFixture> {
  const directory = await mkdtemp(join(tmpdir(), 'keelson-kubelet-'))
  const runtime = await startFakeRuntime({ Version: version, ...options.scripts })
  const clock = new NotingClock()
  const log = new FakeLog()
  // Each start is a process of its own, with its own registry.
  let metrics = await createProcessMetrics({ processDefaults: false })
  const cgroups = new FakeCgroupTree()
  const opened: { driver: CgroupDriver; after: number }[] = []
  const kubeApi = new FakeKubeApi()
  const served: KubeletServeOptions[] = []
  const running: RunningKubelet[] = []
  const oomScores: number[] = []
  const kernel = join(import.meta.dirname, '../fixtures/procfs', options.kernel ?? 'uml-6.1-v2')
  const host = {
    os: options.os ?? 'linux',
    hasSystemd: () => options.systemd ?? true,
    hostname: () => 'Node-1',
    pid: 4242,
    setOomScoreAdj: (value: number) => void oomScores.push(value),
  } as const
  const fixture: KubeletFixture = {
    directory,
    runtime,
    clock,
    log,
    get metrics() {
      return metrics
    },
    cgroups,
    opened,
    kubeApi,
    served,
    oomScores,
    ports: {
      procfs: { ...createProcfs({ proc: join(kernel, 'proc') }), pageSize: () => 4096n },
      version: '0.0.0',
      logind: new FakeLogind(),
      kernelLog: { oomKills: () => undefined, openRecords: () => undefined },
      nodeHost: {
        architecture: 'amd64',
        ownAddresses: () => ['10.0.0.7'],
        routedAddresses: () => ['10.0.0.7'],
        lookup: async () => [],
        inUserNamespace: () => false,
        hugePages: () => [],
        osImage: () => 'Test Linux',
      },
      statsFiles: noFiles,
      files: createFiles(),
      podHost: createPodHost(),
      volumeHost: createVolumeHost(),
      programs: createPrograms(),
      host,
      clock,
      log,
      metrics,
      probeMetrics: metrics,
      probeCalls: createProbeCalls(),
      connect: (endpoint, timeoutMs) => createCriClient(endpoint, { timeoutMs }),
      openCgroups: (driver) => {
        opened.push({ driver, after: runtime.callsOf('RuntimeConfig').length })
        return { tree: cgroups, close: () => cgroups.close() }
      },
      certificates: createCertificates(),
      kubeconfigs: { ...createKubeconfigs(), exists: async () => false },
      relayUpgrade,
      openKubeApi: async () => kubeApi,
      serve: async (o) => {
        served.push(o)
        return { url: 'https://127.0.0.1:10250', port: 10250, close: async () => {} }
      },
    },
    async write(path, text) {
      const file = join(directory, path)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, text)
      return file
    },
    async start(flags, env = {}) {
      const config = await readKubeletConfig(
        [`--container-runtime-endpoint=${runtime.endpoint}`, ...flags],
        env,
        createFiles(),
      )
      metrics = await createProcessMetrics({ processDefaults: false })
      const kubelet = await startKubelet(config, { ...fixture.ports, metrics, probeMetrics: metrics })
      running.push(kubelet)
      return kubelet
    },
    async close() {
      for (const kubelet of running) await kubelet.close()
      await runtime.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
  return fixture
}

/** Runs the work while every sleeper is woken at once: hours pass in no time. */
export async function passingTime<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  let over = false
  const end = (): void => {
    over = true
  }
  work.then(end, end)
  while (!over) {
    if (clock.waiting > 0) await clock.advance(2000)
    else await new Promise((resolve) => setTimeout(resolve, 1))
  }
  return work
}
