// Settings that protect something, seen from outside the process: they work, or the start says by name that they do not.
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startFakeRuntime } from '../../src/fakes/cri/fake-runtime.js'
import { runtimeConfig } from '../../src/fakes/cri/shapes.js'
import { differentSysctls } from '../../src/kubelet/node/decide/kernel-defaults.js'
import { type Bundle, bundleCommand } from '../support/command.js'
import { type KubeletProcess, startKubeletProcess } from './kubelet-process.js'

let bundle: Bundle
beforeAll(async () => {
  bundle = await bundleCommand()
})
afterAll(() => bundle.remove())

async function withKubelet(
  flags: readonly string[],
  look: (kubelet: KubeletProcess) => Promise<void>,
): Promise<void> {
  const kubelet = await startKubeletProcess(bundle.main, {
    scripts: { RuntimeConfig: runtimeConfig.cgroupfs },
    flags: ['--fail-cgroupv1=false', '--fail-swap-on=false', '--kubernetes-version=1.36', ...flags],
  })
  try {
    await look(kubelet)
  } finally {
    await kubelet.remove()
  }
}

const unsupported = ['--manifest-url=http://127.0.0.1/pods', '--reserved-cpus=0-1']

test('settings that nothing acts on: a warning for each, with what does not happen and the remedy', () =>
  withKubelet(unsupported, async (kubelet) => {
    await kubelet.says('the kubelet is up')
    expect(kubelet.output()).toMatch(
      /^W.*staticPodURL: is not supported: pods of this URL are not run; put the manifests/m,
    )
    const { keelson, kubeletconfig } = JSON.parse(await kubelet.page('/configz'))
    expect(kubeletconfig.staticPodURL).toBe('http://127.0.0.1/pods')
    const ids = keelson.warnings.map((w: { id: string }) => w.id)
    expect(ids.filter((id: string) => id === 'not-honoured')).toHaveLength(2)
  }))

test('with --strict the start is refused, and every such setting is named', () =>
  withKubelet([...unsupported, '--strict', '--lock-file=/run/kubelet.lock'], async (kubelet) => {
    expect(await kubelet.ended).toBe(2)
    for (const name of ['staticPodURL', 'reservedSystemCPUs', '--lock-file'])
      expect(kubelet.output()).toMatch(new RegExp(`^  ${name}:? is not supported`, 'm'))
  }))

test('a soft threshold without a grace period: the start is refused with what to set', () =>
  withKubelet(['--eviction-soft=nodefs.available<10%'], async (kubelet) => {
    expect(await kubelet.ended).toBe(2)
    expect(kubelet.output()).toContain(
      'set evictionSoftGracePeriod["nodefs.available"], for example to 1m30s',
    )
  }))

test('the thresholds of the release itself are no wish of the user: nothing is said, and strict starts', () =>
  withKubelet(['--strict'], async (kubelet) => {
    await kubelet.says('the kubelet is up')
    expect(kubelet.output()).not.toContain('is not supported')
  }))

test('--protect-kernel-defaults on the kernel of this machine: it starts, or names what differs', () =>
  withKubelet(['--protect-kernel-defaults'], async (kubelet) => {
    const read = (name: string): string | undefined => {
      try {
        return readFileSync(join('/proc/sys', name.replaceAll('.', '/')), 'utf8').trim()
      } catch {
        return undefined
      }
    }
    const different = differentSysctls(read)
    if (different.length === 0) return kubelet.says('the kubelet is up')
    expect(await kubelet.ended).toBe(1)
    for (const { name, wanted, found } of different)
      expect(kubelet.output()).toContain(`${name} is ${found ?? 'not there'}, not ${wanted}`)
  }))

test('--oom-score-adj is what the kernel has for the process', () =>
  withKubelet(['--oom-score-adj=321'], async (kubelet) => {
    await kubelet.says('the kubelet is up')
    const pid = kubelet.process.pid ?? 0
    expect(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8').trim()).toBe('321')
  }))

test("a CRI server inside the kubelet on the runtime's own socket: the start is refused by name", async () => {
  const directory = await mkdtemp(join(tmpdir(), 'keelson-settings-'))
  const runtime = await startFakeRuntime({ RuntimeConfig: runtimeConfig.cgroupfs })
  const file = join(directory, 'keelson.yaml')
  await writeFile(
    file,
    `apiVersion: keelson.dev/v1alpha1\nkind: KeelsonConfiguration\ncriServer: {listen: "${runtime.endpoint}"}\n`,
  )
  const kubelet = await startKubeletProcess(bundle.main, { runtime, flags: [`--keelson-config=${file}`] })
  try {
    expect(await kubelet.ended).toBe(2)
    expect(kubelet.output()).toContain(
      `criServer.listen ${runtime.endpoint}: that is containerRuntimeEndpoint; choose another socket to listen on`,
    )
    expect(runtime.calls).toHaveLength(0)
  } finally {
    await kubelet.remove()
    await rm(directory, { recursive: true, force: true })
  }
})
