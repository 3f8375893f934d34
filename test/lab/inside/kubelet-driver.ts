// `keelson kubelet` on a real kernel beside real containerd 1.6: nothing of the cgroup tree changes before the driver is
// known, the fallback, and the proof of the driver from the path of a running sandbox. The driver of the machine comes in
// as LAB_DRIVER.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Io } from '../../../src/cli/io.js'
import { run } from '../../../src/cli/program.js'
import { deprecatedFallbackLine } from '../../../src/core/driver/decide-driver.js'
import { startFakeRuntime } from '../../../src/fakes/cri/fake-runtime.js'
import { runtimeConfig } from '../../../src/fakes/cri/shapes.js'
import type { Check } from '../../support/check.js'
import { cgroupOf, connect, endpoint, podSandboxConfig } from './pod.js'

type Driver = 'cgroupfs' | 'systemd'
const driver = (): Driver => (process.env.LAB_DRIVER === 'systemd' ? 'systemd' : 'cgroupfs')
const other = (): Driver => (driver() === 'systemd' ? 'cgroupfs' : 'systemd')
const parents: Readonly<Record<Driver, string>> = {
  cgroupfs: '/kubepods/burstable/podlab1',
  systemd: '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podlab1.slice',
}
const root = '/sys/fs/cgroup'

interface Kubelet {
  output(): string
  readonly ended: Promise<number>
  says(text: string): Promise<void>
  page(path: string): Promise<string>
  end(): Promise<number>
}

/** The command as main.ts runs it, in this process: a second one would take as long as the machine's boot. */
function startKubelet(flags: readonly string[]): Kubelet {
  const rootDir = mkdtempSync('/tmp/kubelet-')
  let text = ''
  const sink = {
    write: (line: string) => {
      text += line
      return true
    },
  }
  const io: Io = { stdout: sink, stderr: sink, stdin: process.stdin, env: process.env, exitCode: 0 }
  const ended = run(
    [
      'kubelet',
      `--root-dir=${rootDir}`,
      '--address=127.0.0.1',
      '--hostname-override=lab',
      `--container-runtime-endpoint=${endpoint()}`,
      ...flags,
    ],
    io,
  )
  return {
    output: () => text,
    ended,
    async says(wanted) {
      for (const until = Date.now() + 40_000; !text.includes(wanted); await sleep(50))
        if (Date.now() > until) assert.fail(`never said ${wanted}:\n${text}`)
    },
    page: (path) => page(path, readFileSync(`${rootDir}/keelson-token`, 'utf8').trim()),
    end() {
      process.kill(process.pid, 'SIGTERM')
      return ended
    },
  }
}

const page = (path: string, token: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    const req = request(
      { host: '127.0.0.1', port: 10250, path, headers, rejectUnauthorized: false },
      (res) => {
        let body = ''
        res.on('data', (part: Buffer) => {
          body += part.toString()
        })
        res.on('end', () =>
          res.statusCode === 200 ? resolve(body) : reject(new Error(`${res.statusCode} ${body}`)),
        )
      },
    )
    req.on('error', reject).end()
  })

interface Finding {
  readonly id: string
}
interface DriverShown {
  readonly driver: string
  readonly source: string
  readonly fallback: string | null
  readonly sandboxesThatAgree: number
  readonly findings: readonly Finding[]
}
const shown = async (kubelet: Kubelet): Promise<DriverShown> =>
  JSON.parse(await kubelet.page('/configz')).keelson.cgroupDriver

/** systemd's own: they come and go while it still boots. */
const ofSystemd = /^((system|init|user).*\.(slice|scope)|.*\.(mount|service|socket|swap))$/

/** Every cgroup from here on and what it hands down. */
function treeNow(path = root): readonly string[] {
  const below = readdirSync(path, { withFileTypes: true })
    .filter((e) => e.isDirectory() && (path !== root || !ofSystemd.test(e.name)))
    .map((e) => e.name)
    .sort()
  const handsDown = readFileSync(`${path}/cgroup.subtree_control`, 'utf8').trim()
  return [`${path} ${handsDown}`, ...below.flatMap((name) => treeNow(`${path}/${name}`))]
}

let sandboxId = ''

export const checks: readonly Check[] = [
  {
    name: 'nothing under the cgroup root is created or changed before the driver is known, nor after a failed start',
    async run() {
      const before = treeNow()
      let atCall: readonly string[] = []
      const runtime = await startFakeRuntime({
        Version: { value: { runtimeName: 'scripted', runtimeApiVersion: 'v1' } },
        RuntimeConfig: () => {
          atCall = treeNow()
          return runtimeConfig.unknownDriver(5)
        },
      })
      const kubelet = startKubelet([`--container-runtime-endpoint=${runtime.endpoint}`])
      assert.equal(await kubelet.ended, 1, kubelet.output())
      await runtime.close()
      assert.ok(before.length > 0)
      assert.deepEqual(atCall, before)
      assert.deepEqual(treeNow(), before)
      assert.match(kubelet.output(), /unknown cgroup driver 5/)
    },
  },
  {
    name: 'a sandbox below kubepods, made over CRI',
    async run() {
      const client = connect()
      const config = await podSandboxConfig({ name: 'proof', cgroupParent: parents[driver()] })
      sandboxId = (await client.runtime.runPodSandbox({ config })).podSandboxId
      const { info } = await client.runtime.podSandboxStatus({ podSandboxId: sandboxId, verbose: true })
      const path = cgroupOf(JSON.parse(info.info ?? '{}').pid)
      client.close()
      assert.ok(path.startsWith(parents[driver()]), path)
      return { path }
    },
  },
  {
    name: 'containerd does not tell its driver: fallback, the KEP line, the gauge, and the sandbox proves the driver',
    async run() {
      const kubelet = startKubelet(['--kubernetes-version=1.36', `--cgroup-driver=${driver()}`])
      await kubelet.says('the kubelet is up')
      assert.ok(kubelet.output().includes(deprecatedFallbackLine), kubelet.output())
      assert.match(await kubelet.page('/metrics'), /^kubelet_cri_losing_support\{version="1\.37"\} 1$/m)
      const { sandboxesThatAgree, findings, ...rest } = await shown(kubelet)
      assert.deepEqual(
        { driver: rest.driver, source: rest.source, fallback: rest.fallback },
        { driver: driver(), source: 'flag', fallback: 'unimplemented' },
      )
      assert.equal(sandboxesThatAgree, 1)
      assert.deepEqual(findings, [])
      assert.equal(await kubelet.end(), 0)
    },
  },
  {
    name: 'the wrong driver: refused where the host cannot, otherwise named from the sandbox and the handlers',
    async run() {
      const kubelet = startKubelet(['--kubernetes-version=1.36', `--cgroup-driver=${other()}`])
      if (other() === 'systemd') {
        assert.equal(await kubelet.ended, 1)
        assert.match(kubelet.output(), /\[driver\.no-systemd\]/)
        return
      }
      await kubelet.says('the kubelet is up')
      const { sandboxesThatAgree, findings } = await shown(kubelet)
      assert.equal(sandboxesThatAgree, 0)
      assert.deepEqual(
        findings.map((f) => f.id),
        ['fallback-against-sandboxes', 'cgroupfs-on-systemd-host', 'handlers-differ'],
      )
      assert.match(kubelet.output(), /set cgroupDriver: systemd/)
      assert.equal(await kubelet.end(), 0)
    },
  },
  {
    name: 'with the fallback removed this containerd is refused, with the releases that would do',
    async run() {
      const kubelet = startKubelet(['--kubernetes-version=1.37'])
      assert.equal(await kubelet.ended, 1)
      assert.match(kubelet.output(), /containerd 2\.0 or CRI-O 1\.28 or later \[driver\.runtime-too-old\]/)
    },
  },
  {
    name: 'the sandbox is where it was: nobody moved it',
    async run() {
      const client = connect()
      const { info, status } = await client.runtime.podSandboxStatus({
        podSandboxId: sandboxId,
        verbose: true,
      })
      assert.equal(status?.state, 0)
      assert.ok(cgroupOf(JSON.parse(info.info ?? '{}').pid).startsWith(parents[driver()]))
      await client.runtime.stopPodSandbox({ podSandboxId: sandboxId })
      await client.runtime.removePodSandbox({ podSandboxId: sandboxId })
      client.close()
    },
  },
]
