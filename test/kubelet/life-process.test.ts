// The life of the process after its start: the runtime goes and comes back, the Event finds a late API server, signals
// end it, and what it says about a node that does not agree with its driver.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runtimeConfig } from '../../src/fakes/cri/shapes.js'
import { type Bundle, bundleCommand, startCommand } from '../support/command.js'
import { createTestApiServer, nodeUid } from './api-server.js'
import { type KubeletProcess, startKubeletProcess } from './kubelet-process.js'

let bundle: Bundle
beforeAll(async () => {
  bundle = await bundleCommand()
})
afterAll(() => bundle.remove())

const host = ['--fail-cgroupv1=false', '--kubernetes-version=1.36']

async function withKubelet(
  options: Parameters<typeof startKubeletProcess>[1],
  look: (k: KubeletProcess) => Promise<void>,
): Promise<void> {
  const kubelet = await startKubeletProcess(bundle.main, {
    ...options,
    flags: [...host, ...(options.flags ?? [])],
  })
  try {
    await look(kubelet)
  } finally {
    await kubelet.remove()
  }
}

test('a restarted runtime with the same driver: waited for, compared, nothing else', () =>
  withKubelet({ scripts: { RuntimeConfig: runtimeConfig.cgroupfs } }, async (kubelet) => {
    await kubelet.says('the kubelet is up')
    await kubelet.runtime.stop()
    await kubelet.says('the container runtime is unreachable; waiting for it')
    const before = kubelet.runtime.callsOf('RuntimeConfig').length
    await kubelet.runtime.start()
    await kubelet.says('the container runtime is reachable again')
    expect((await fetch(`http://127.0.0.1:${kubelet.healthPort}/healthz`)).status).toBe(200)
    await expect.poll(() => kubelet.runtime.callsOf('RuntimeConfig').length).toBe(before + 1)
    expect(kubelet.output()).not.toMatch(/^E\d{4}/m)
    expect(await kubelet.end()).toBe(0)
  }))

test('a runtime that comes back with another driver is reported loudly, the driver in use stays', () =>
  withKubelet({ scripts: { RuntimeConfig: runtimeConfig.cgroupfs } }, async (kubelet) => {
    await kubelet.says('the kubelet is up')
    kubelet.runtime.script('RuntimeConfig', runtimeConfig.systemd)
    await kubelet.runtime.restart()
    await kubelet.says('is reachable again with another cgroup driver')
    expect(kubelet.output()).toMatch(/^E\d{4}.*inUse="cgroupfs" runtime="systemd".*drain the node/m)
    const { keelson, kubeletconfig } = JSON.parse(await kubelet.page('/configz'))
    expect(kubeletconfig.cgroupDriver).toBe('cgroupfs')
    expect(keelson.cgroupDriver).toMatchObject({ driver: 'cgroupfs', runtimeDiffers: 'systemd' })
    kubelet.runtime.script('RuntimeConfig', runtimeConfig.cgroupfs)
    kubelet.runtime.cutAll()
    await kubelet.says('reconnected to the container runtime')
    await expect
      .poll(async () => JSON.parse(await kubelet.page('/configz')).keelson.cgroupDriver.runtimeDiffers)
      .toBe(null)
    expect(await kubelet.end()).toBe(0)
  }))

test('a fallback: the Event waits for an API server that comes later, and comes once, with the real Node', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'keelson-api-'))
  const api = await createTestApiServer(directory)
  const warnings = () => api.events.filter((e) => e.reason === 'RuntimeUpgradeNeeded')
  try {
    await withKubelet({ flags: [`--kubeconfig=${api.kubeconfig}`, '--v=4'] }, async (kubelet) => {
      await kubelet.says('the kubelet is up')
      await kubelet.says('the Node cannot be registered; retrying')
      expect(api.events).toEqual([])
      await api.listen()
      await expect.poll(warnings, { timeout: 15_000 }).toHaveLength(1)
      expect(warnings()[0]).toMatchObject({
        involvedObject: { kind: 'Node', name: 'node-1', uid: nodeUid },
        type: 'Warning',
        reason: 'RuntimeUpgradeNeeded',
        source: { component: 'kubelet', host: 'node-1' },
      })
      expect(warnings()[0]?.message).toContain(kubelet.runtime.socketPath)
      expect(await kubelet.end()).toBe(0)
    })
    expect(warnings()).toHaveLength(1)
  } finally {
    await api.close()
    await rm(directory, { recursive: true, force: true })
  }
})

test('a signal during the start ends it with 0', () =>
  withKubelet({ scripts: { RuntimeConfig: { hang: true } } }, async (kubelet) => {
    await kubelet.says('connected to the container runtime')
    const from = performance.now()
    expect(await kubelet.end('SIGTERM')).toBe(0)
    expect(performance.now() - from).toBeLessThan(10_000)
  }))

test('JSON log: every line is an object, the reason of a failed start is one of them', () =>
  withKubelet(
    { scripts: { RuntimeConfig: runtimeConfig.unknownDriver(9) }, flags: ['--logging-format=json'] },
    async (kubelet) => {
      expect(await kubelet.ended).toBe(1)
      const lines = kubelet.output().trimEnd().split('\n')
      const last = lines.map((line) => JSON.parse(line)).at(-1)
      expect(last).toMatchObject({ level: 'error', error: { code: 'driver.unknown' } })
    },
  ))

test('no socket: waited for within the request timeout, then exit 1 with the remedy', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'keelson-none-'))
  await mkdir(join(directory, 'root'))
  try {
    const argv = [
      `--container-runtime-endpoint=unix://${directory}/none.sock`,
      `--root-dir=${directory}/root`,
    ]
    const kubelet = startCommand([
      bundle.main,
      'kubelet',
      ...host,
      ...argv,
      '--enable-server=false',
      '--runtime-request-timeout=700ms',
    ])
    expect(await kubelet.ended).toBe(1)
    expect(kubelet.output()).toContain('waiting for the container runtime')
    expect(kubelet.output()).toMatch(
      /^keelson: connect to the container runtime: call Version at .*none\.sock.*\]$/m,
    )
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})

test('--help groups the flags and needs no runtime', async () => {
  const help = startCommand([bundle.main, 'kubelet', '--help'])
  expect(await help.ended).toBe(0)
  for (const title of ['Keelson:', 'Container runtime:', 'Cgroups and reservations:', 'Server:', 'Examples:'])
    expect(help.output()).toContain(`\n${title}\n`)
  expect(help.output()).toContain('--cgroup-driver TEXT')
  expect(help.output()).not.toContain('\nOther:\n')
})

test('a left-over endpoint flag that overrides config.yaml, and handlers that differ, are reported with remedies', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'keelson-proof-'))
  const file = join(directory, 'config.yaml')
  await writeFile(
    file,
    'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\ncontainerRuntimeEndpoint: unix:///run/crio/crio.sock\n',
  )
  const config = JSON.stringify({
    containerd: {
      defaultRuntimeName: 'runc',
      runtimes: {
        runc: { runtimeType: 'io.containerd.runc.v2', options: { SystemdCgroup: false } },
        crun: { runtimeType: 'io.containerd.runc.v2', options: { SystemdCgroup: true } },
        kata: { runtimeType: 'io.containerd.kata.v2' },
      },
    },
  })
  try {
    await withKubelet(
      {
        scripts: { RuntimeConfig: runtimeConfig.cgroupfs, Status: { value: { info: { config } } } },
        flags: [`--config=${file}`],
      },
      async (kubelet) => {
        await kubelet.says('the kubelet is up')
        expect(kubelet.output()).toMatch(/overrides unix:\/\/\/run\/crio\/crio\.sock of .*config\.yaml:3/)
        expect(kubelet.output()).toContain('kubeadm-flags.env')
        expect(kubelet.output()).toContain('runtime handlers do not use the driver cgroupfs: crun (systemd)')
        const { keelson } = JSON.parse(await kubelet.page('/configz'))
        // A machine that runs systemd has one more.
        expect(keelson.cgroupDriver.findings.map((f: { id: string }) => f.id)).toEqual(
          expect.arrayContaining(['handlers-differ', 'endpoint-flag-beats-file']),
        )
        expect(await kubelet.end()).toBe(0)
      },
    )
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})
