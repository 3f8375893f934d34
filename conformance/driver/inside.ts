// Runs inside a machine: a containerd 2.x of this module's cache, asked and watched through Keelson. The environment says
// what the runtime is told (RUNTIME_DRIVER) and whether the machine's first process is systemd.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { CgroupDriver as CriDriver } from '../../src/cri-api/api.js'
import { type PrivateContainerd, startPrivateContainerd } from '../../src/lab/containerd/start-containerd.js'
import type { CriClient } from '../../src/ports/runtime.js'
import { cgroupOf, podSandboxConfig } from '../../test/lab/inside/pod.js'
import type { Check } from '../../test/support/check.js'
import { listPodsWithCrictl } from '../peers/crictl.js'
import { type Kubelet, type ShownDriver, startKubelet } from './kubelet.js'

type Driver = 'cgroupfs' | 'systemd'
const driver: Driver = process.env.RUNTIME_DRIVER === 'systemd' ? 'systemd' : 'cgroupfs'
const wrong: Driver = driver === 'systemd' ? 'cgroupfs' : 'systemd'
const hostHasSystemd = existsSync('/run/systemd/system')
const out = process.env.LAB_OUT ?? '/run'

const parents: Readonly<Record<Driver, string>> = {
  cgroupfs: '/kubepods/burstable/podproof',
  systemd: '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podproof.slice',
}

let containerd: PrivateContainerd | undefined
let client: CriClient | undefined
let sandbox: { readonly id: string; readonly pid: number; readonly path: string } | undefined

function started(): { containerd: PrivateContainerd; client: CriClient } {
  if (containerd === undefined || client === undefined)
    throw new Error('containerd is not up: see the first check')
  return { containerd, client }
}

async function readSandbox(id: string): Promise<{ id: string; pid: number; path: string; ready: boolean }> {
  const { info, status } = await started().client.runtime.podSandboxStatus({
    podSandboxId: id,
    verbose: true,
  })
  const { pid } = JSON.parse(info.info ?? '{}') as { readonly pid?: number }
  if (pid === undefined) throw new Error(`containerd knows no process of sandbox ${id}`)
  return { id, pid, path: cgroupOf(pid), ready: status?.state === 0 }
}

const gate = (on: boolean): string[] => [
  '--kubernetes-version=1.33', // from 1.34 on the gate is locked
  `--feature-gates=KubeletCgroupDriverFromCRI=${on}`,
  `--cgroup-driver=${wrong}`,
]

async function withKubelet(
  flags: readonly string[],
  look: (kubelet: Kubelet) => Promise<void>,
): Promise<void> {
  const kubelet = startKubelet(started().containerd.endpoint, flags)
  try {
    await kubelet.says('the kubelet is up')
    await look(kubelet)
  } finally {
    assert.equal(await kubelet.end(), 0, kubelet.output())
  }
}

const identities = (shown: ShownDriver): string[] => shown.findings.map((f) => f.id).sort()

/** The configured driver is wrong and nobody asks the runtime: the kubelet must say what is the matter. */
async function gateOff(): Promise<void> {
  if (wrong === 'systemd' && !hostHasSystemd) {
    const kubelet = startKubelet(started().containerd.endpoint, gate(false))
    assert.equal(await kubelet.ended, 1, kubelet.output())
    assert.match(kubelet.output(), /\[driver\.no-systemd\]/)
    return
  }
  await withKubelet(gate(false), async (kubelet) => {
    const shown = await kubelet.shownDriver()
    assert.deepEqual({ driver: shown.driver, source: shown.source }, { driver: wrong, source: 'flag' })
    assert.equal(shown.sandboxesThatAgree, 0)
    const expected = ['fallback-against-sandboxes', 'handlers-differ']
    assert.deepEqual(
      identities(shown),
      (wrong === 'cgroupfs' && hostHasSystemd ? ['cgroupfs-on-systemd-host', ...expected] : expected).sort(),
    )
    assert.ok(shown.findings.every((f) => f.remedy !== ''))
  })
}

async function gateOn(): Promise<void> {
  await withKubelet(gate(true), async (kubelet) => {
    const shown = await kubelet.shownDriver()
    const { source, fallback, sandboxesThatAgree: agree } = shown
    assert.deepEqual(
      { driver: shown.driver, source, fallback, agree },
      { driver, source: 'cri', fallback: null, agree: 1 },
    )
    assert.deepEqual(
      identities(shown),
      driver === 'cgroupfs' && hostHasSystemd ? ['cgroupfs-on-systemd-host'] : [],
    )
  })
}

async function nothingMoved(): Promise<void> {
  if (sandbox === undefined) throw new Error('there is no sandbox')
  const now = await readSandbox(sandbox.id)
  assert.deepEqual(now, { ...sandbox, ready: true })
}

export const checks: readonly Check[] = [
  {
    name: 'containerd 2.x starts with the driver in its configuration',
    timeoutMs: 120_000,
    async run() {
      containerd = await startPrivateContainerd({
        dir: '/run/keelson-containerd',
        root: '/run/keelson-containerd/root', // overlayfs cannot lie on the machine's own overlay; /run is memory
        socket: '/run/containerd/containerd.sock',
        bridge: 'lab0',
        subnet: '10.88.0.0/16',
        archives: [join(out, 'images.tar')],
        systemdCgroup: driver === 'systemd',
        log: join(out, 'containerd.log'),
        guard: false,
      })
      client = createCriClient(containerd.endpoint, { timeoutMs: 60_000 })
      const version = await client.runtime.version({ version: 'v1' })
      assert.match(version.runtimeVersion, /^v2\./)
      return { runtimeVersion: version.runtimeVersion }
    },
  },
  {
    name: 'RuntimeConfig answers with that driver',
    async run() {
      const { linux } = await started().client.runtime.runtimeConfig({})
      const expected = driver === 'systemd' ? CriDriver.SYSTEMD : CriDriver.CGROUPFS
      assert.equal(linux?.cgroupDriver, expected)
    },
  },
  {
    name: "a sandbox made directly over CRI stands where that driver's sandboxes stand",
    timeoutMs: 90_000,
    async run() {
      const config = await podSandboxConfig({ name: 'proof', cgroupParent: parents[driver] })
      const { podSandboxId } = await started().client.runtime.runPodSandbox({ config })
      const { ready: _, ...found } = await readSandbox(podSandboxId)
      sandbox = found
      const leaf = driver === 'systemd' ? `cri-containerd-${podSandboxId}.scope` : podSandboxId
      assert.equal(sandbox.path, `${parents[driver]}/${leaf}`)
    },
  },
  {
    name: 'crictl sees the same sandbox',
    async run() {
      const pods = await listPodsWithCrictl(join(out, 'bin', 'crictl'), started().containerd.endpoint)
      assert.deepEqual(
        pods.map((p) => ({ id: p.id, name: p.metadata.name, state: p.state })),
        [{ id: sandbox?.id, name: 'proof', state: 'SANDBOX_READY' }],
      )
    },
  },
  {
    name: 'gate off: the wrong configured driver is used, and the state is named',
    timeoutMs: 120_000,
    run: gateOff,
  },
  { name: 'gate on: the answer of the runtime mends it', timeoutMs: 120_000, run: gateOn },
  { name: 'gate off again: as before', timeoutMs: 120_000, run: gateOff },
  { name: 'gate on again: as before', timeoutMs: 120_000, run: gateOn },
  { name: 'the sandbox is the same process in the same cgroup: nothing was moved', run: nothingMoved },
  {
    name: 'the sandbox goes, and containerd ends',
    timeoutMs: 90_000,
    async run() {
      const { runtime } = started().client
      if (sandbox !== undefined) {
        await runtime.stopPodSandbox({ podSandboxId: sandbox.id })
        await runtime.removePodSandbox({ podSandboxId: sandbox.id })
      }
      started().client.close()
      await started().containerd.kill('SIGTERM')
    },
  },
]
