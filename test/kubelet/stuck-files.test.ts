// Files that never answer: a FIFO where a container's log should be, and a pool of threads that all wait. Real processes.
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readCgroupLayout } from '../../src/adapters/cgroups/detect.js'
import { createCgroupTree } from '../../src/adapters/cgroups/tree.js'
import { nodeAnswers } from '../../src/fakes/cri/node-answers.js'
import { createNodeState } from '../../src/fakes/cri/node-state.js'
import { runtimeConfig } from '../../src/fakes/cri/shapes.js'
import { ask } from '../serve/client.js'
import { type Bundle, bundleCommand } from '../support/command.js'
import { requires } from '../support/requirements.js'
import { type KubeletProcess, startKubeletProcess } from './kubelet-process.js'

let bundle: Bundle
let directory = ''
beforeAll(async () => {
  bundle = await bundleCommand()
  directory = await mkdtemp(join(tmpdir(), 'keelson-stuck-'))
})
afterAll(async () => {
  await bundle.remove()
  await rm(directory, { recursive: true, force: true })
})

const flags = ['--fail-cgroupv1=false', '--kubernetes-version=1.36', '--fail-swap-on=false']
const healthOf = async ({ healthPort }: KubeletProcess): Promise<number> =>
  (await fetch(`http://127.0.0.1:${healthPort}/healthz`)).status

test('a FIFO in place of a log: requests for it end, new manifests are noticed, health is ok, SIGTERM ends', async (ctx) => {
  requires(ctx, { root: true })
  const image = 'keelson.local/busybox:1'
  const state = createNodeState({ images: [image] })
  const manifests = join(directory, 'manifests')
  const logs = join(directory, 'log/pods')
  const cgroupRoot = `/keelson-test-${randomBytes(4).toString('hex')}`
  await mkdir(manifests)
  const manifest = (name: string): Promise<void> =>
    writeFile(
      join(manifests, `${name}.yaml`),
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name },
        spec: {
          restartPolicy: 'Never',
          containers: [{ name: 'app', image, terminationMessagePolicy: 'FallbackToLogsOnError' }],
        },
      }),
    )
  const config = join(directory, 'kubelet.yaml')
  await writeFile(
    config,
    `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
staticPodPath: ${manifests}
podLogsDir: ${logs}
cgroupRoot: ${cgroupRoot}
`,
  )
  await manifest('victim')
  const kubelet = await startKubeletProcess(bundle.main, {
    scripts: { ...nodeAnswers(state), RuntimeConfig: runtimeConfig.cgroupfs },
    flags: [...flags, `--config=${config}`],
  })
  try {
    const containersOf = (name: string) =>
      [...state.containers.values()].filter(
        (c) => c.config.labels['io.kubernetes.pod.name'] === `${name}-node-1` && c.status.state === 1,
      )
    await expect.poll(() => containersOf('victim').length, { timeout: 30_000 }).toBe(1)
    const [victim] = containersOf('victim')
    execFileSync('mkfifo', [victim?.status.logPath ?? ''])

    const token = (await readFile(join(kubelet.directory, 'keelson-token'), 'utf8')).trim()
    const path = '/containerLogs/default/victim-node-1/app'
    // The runtime has started it; the kubelet sees that a moment later.
    const isSeen = async (): Promise<boolean> =>
      !(await ask({ port: kubelet.port, path, token })).body.includes('is waiting to start')
    await expect.poll(isSeen, { timeout: 10_000 }).toBe(true)
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => ask({ port: kubelet.port, path, token })),
    )
    expect(answers.map((a) => a.status)).toEqual([404, 404, 404, 404, 404])
    expect(answers[0]?.body).toContain('not a regular file')

    // Its end makes the kubelet look for a termination message in the log.
    state.exitContainer(victim?.status.id ?? '', { exitCode: 1 })
    await manifest('newcomer')
    await expect.poll(() => containersOf('newcomer').length, { timeout: 20_000 }).toBe(1)
    const { body } = await ask({ port: kubelet.port, path: '/pods', token })
    expect(body).toContain('Error on reading the termination message')
    expect(await healthOf(kubelet)).toBe(200)
    expect(await kubelet.end('SIGTERM')).toBe(0)
  } finally {
    await kubelet.remove()
    const cgroups = createCgroupTree(readCgroupLayout())
    if (cgroups.exists(cgroupRoot)) await cgroups.remove(cgroupRoot, { timeoutMs: 10_000 })
    cgroups.close()
  }
})

test('every thread of the pool waits for ever: /healthz fails, and is ok again when they are free', async () => {
  const fifo = join(directory, 'fifo')
  execFileSync('mkfifo', [fifo])
  // Stands for whatever takes the threads: at the signal, more opens than libuv has threads.
  const preload = join(directory, 'preload.mjs')
  await writeFile(
    preload,
    `import { open } from 'node:fs'
process.on('SIGUSR2', () => { for (let i = 0; i < 8; i += 1) open(${JSON.stringify(fifo)}, 'r', () => {}) })`,
  )
  const kubelet = await startKubeletProcess(bundle.main, {
    scripts: { RuntimeConfig: runtimeConfig.cgroupfs },
    flags,
    env: { NODE_OPTIONS: `--import=${preload}` },
  })
  try {
    await kubelet.says('the kubelet is up')
    expect(await healthOf(kubelet)).toBe(200)
    kubelet.process.kill('SIGUSR2')
    await expect.poll(() => healthOf(kubelet), { timeout: 30_000, interval: 500 }).toBe(500)
    const { body } = await askHealth(kubelet)
    expect(body).toContain('[-]filesystem failed')
    expect(kubelet.output()).toContain('a file system call has not returned for')
    // A writer lets every reader go.
    const writer = await open(fifo, constants.O_WRONLY | constants.O_NONBLOCK)
    await expect.poll(() => healthOf(kubelet), { timeout: 30_000, interval: 500 }).toBe(200)
    await writer.close()
  } finally {
    await kubelet.remove()
  }
})

const askHealth = async ({ healthPort }: KubeletProcess): Promise<{ readonly body: string }> => ({
  body: await (await fetch(`http://127.0.0.1:${healthPort}/healthz?verbose`)).text(),
})
