// From `keelson node init` to a running pod, and the CRI server in front and out again: real systemd with the units that are
// shipped, real containerd at a socket that is not the default, every command a process of its own.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCriClient } from '../../../src/adapters/cri/client/client.js'
import { processIo } from '../../../src/cli/io.js'
import { run } from '../../../src/cli/program.js'
import type { Container } from '../../../src/cri-api/api.js'
import type { Check } from '../../support/check.js'

/** The same bundle is the command line when it is started again with this variable. */
const roleVariable = 'LAB_KEELSON'
if (process.env[roleVariable] !== undefined) {
  const io = processIo()
  process.exit(await run(process.argv.slice(2), io))
}

const program = '/usr/local/bin/keelson'
const script = '/usr/local/lib/keelson/main.mjs'
const defaultSocket = '/run/containerd/containerd.sock'
const kubeletDir = '/var/lib/kubelet'
const manifests = '/etc/kubernetes/manifests'
const listen = 'unix:///run/keelson/cri.sock'
const running = 1

interface Ended {
  readonly code: number | null
  readonly output: string
}

async function call(command: string, ...args: string[]): Promise<Ended> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => {
      output += data.toString()
    })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}

async function must(command: string, ...args: string[]): Promise<string> {
  const { code, output } = await call(command, ...args)
  assert.equal(code, 0, `${command} ${args.join(' ')}\n${output}`)
  return output
}

const environment = (name: string): string => {
  const value = process.env[name]
  assert.ok(value, name)
  return value
}

/** Whoever goes to the default socket comes here, and nowhere. Commands that look for runtimes do; a kubelet must not. */
let strays = 0
/** Where containerd is reached now. */
let socket = defaultSocket

/** A socket goes on listening under another name. */
function moveRuntime(to: string): void {
  mkdirSync(to.slice(0, to.lastIndexOf('/')), { recursive: true })
  renameSync(socket, to)
  socket = to
}

async function listContainers(): Promise<readonly Container[]> {
  const client = createCriClient(`unix://${socket}`, { timeoutMs: 20_000 })
  try {
    return (await client.runtime.listContainers({})).containers
  } finally {
    client.close()
  }
}

async function kubeletLog(): Promise<string> {
  return (await call('journalctl', '--no-pager', '-n', '60', '-u', 'keelson-kubelet')).output
}

async function until<T>(what: string, look: () => Promise<T | undefined>, seconds = 150): Promise<T> {
  for (const end = Date.now() + seconds * 1000; ; await sleep(500)) {
    const found = await look()
    if (found !== undefined) return found
    if (Date.now() > end) assert.fail(`${what}: not within ${seconds} s\n${await kubeletLog()}`)
  }
}

/** Written as a static manifest; resolves with its container once that runs. */
function runStaticPod(name: string): Promise<Container> {
  const command = ['/bin/sh', '-c', 'trap "exit 0" TERM; while :; do sleep 1 & wait $!; done']
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      hostNetwork: true,
      containers: [{ name: 'app', image: 'keelson.local/busybox:1', imagePullPolicy: 'Never', command }],
    },
  }
  writeFileSync(`${manifests}/.${name}`, JSON.stringify(pod))
  renameSync(`${manifests}/.${name}`, `${manifests}/${name}.json`)
  return until(`pod ${name} runs`, async () =>
    (await listContainers()).find(
      (c) => c.labels['io.kubernetes.pod.name']?.startsWith(name) && c.state === running,
    ),
  )
}

function initConfig(version: string, endpoint: string, gate: string): string {
  const path = '/root/init.yaml'
  writeFileSync(
    path,
    `apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
nodeRegistration:
  criSocket: ${endpoint}
  kubeletExtraArgs:
  - name: hostname-override
    value: lab-node
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: ${version}
${gate}---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
staticPodPath: ${manifests}
failSwapOn: false
address: 127.0.0.1
`,
  )
  return path
}

const read = (path: string): string => readFileSync(path, 'utf8')
const kept: Record<string, string> = {}
let before: Record<string, string> = {}

/** Kind, mode, owner and content of everything that an installation could touch. */
function snapshot(): Record<string, string> {
  const found: Record<string, string> = {}
  const add = (path: string): void => {
    const s = lstatSync(path, { throwIfNoEntry: false })
    if (s === undefined) return
    const what = s.isSymbolicLink() ? readlinkSync(path) : s.isFile() ? read(path) : ''
    found[path] = `${(s.mode & 0o7777).toString(8)} ${s.uid}:${s.gid} ${what}`
    if (s.isDirectory()) for (const name of readdirSync(path)) add(`${path}/${name}`)
  }
  for (const path of ['/etc/systemd', '/etc/crictl.yaml', '/etc/default', '/var/lib/keelson']) add(path)
  for (const file of ['config.yaml', 'instance-config.yaml', 'kubeadm-flags.env'])
    add(`${kubeletDir}/${file}`)
  return found
}

const mainPid = (unit: string): Promise<string> => must('systemctl', 'show', '-p', 'MainPID', '--value', unit)
const stateOf = async (unit: string): Promise<string> =>
  (await call('systemctl', 'is-active', unit)).output.trim()

/** Connections to the server's socket, as the kernel counts them; the first is the listener. */
const connectionsAt = (name: RegExp): number =>
  read('/proc/net/unix')
    .split('\n')
    .filter((line) => name.test(line) && / 03 +\d+ \S+$/.test(line)).length

export const checks: readonly Check[] = [
  {
    name: 'the node: keelson in its place, the shipped units, containerd away from the default socket',
    async run() {
      mkdirSync(script.slice(0, script.lastIndexOf('/')), { recursive: true })
      copyFileSync(process.argv[1] ?? '', script)
      writeFileSync(program, `#!/bin/sh\nexport ${roleVariable}=1\nexec ${process.execPath} ${script} "$@"\n`)
      chmodSync(program, 0o755)
      for (const directory of [`${kubeletDir}`, manifests, '/etc/systemd/system/keelson-kubelet.service.d'])
        mkdirSync(directory, { recursive: true })
      const units = '/etc/systemd/system/keelson-kubelet.service'
      writeFileSync(units, environment('LAB_KUBELET_UNIT'))
      writeFileSync(`${units}.d/10-kubeadm.conf`, environment('LAB_KUBELET_DROP_IN'))
      // A node without an API server.
      writeFileSync(`${units}.d/20-alone.conf`, '[Service]\nEnvironment="KUBELET_KUBECONFIG_ARGS="\n')
      await must('systemctl', 'daemon-reload')
      moveRuntime('/run/node-a/rt.sock')
      const decoy = createServer((s) => {
        strays++
        s.destroy()
      })
      decoy.unref()
      decoy.listen(defaultSocket)
      await once(decoy, 'listening')
    },
  },
  {
    name: 'gate off: init puts the socket into kubeadm-flags.env, and the kubelet that systemd starts runs a pod there',
    timeoutMs: 240_000,
    async run() {
      const gate = 'featureGates:\n  NodeLocalCRISocket: false\n'
      const output = await must(
        program,
        'node',
        'init',
        '--config',
        initConfig('v1.35.0', `unix://${socket}`, gate),
      )
      assert.match(output, /wrote .*kubeadm-flags\.env/)
      assert.match(
        read(`${kubeletDir}/kubeadm-flags.env`),
        /--container-runtime-endpoint=unix:\/\/\/run\/node-a\/rt\.sock/,
      )
      assert.match(read(`${kubeletDir}/config.yaml`), /containerRuntimeEndpoint: ""/)
      const from = Date.now()
      strays = 0
      await must('systemctl', 'start', 'keelson-kubelet')
      const container = await runStaticPod('one')
      kept[container.id] = 'one'
      assert.equal(strays, 0)
      const status = JSON.parse((await call(program, 'node', 'status', '-o', 'json')).output)
      assert.equal(status.wins.endpoint, 'unix:///run/node-a/rt.sock')
      assert.equal(status.places.at(-1).endpoint, 'unix:///run/node-a/rt.sock')
      return { secondsToRunning: Math.round((Date.now() - from) / 1000) }
    },
  },
  {
    name: 'gate on: an upgrade moves the socket into the instance file, the kubelet goes by config.yaml and runs another pod',
    timeoutMs: 240_000,
    async run() {
      // Without a cluster to ask, preflight looks at what answers at the default socket, which is our decoy.
      const ignore = ['--ignore-preflight-errors', 'runtime-answers']
      await must(program, 'node', 'upgrade', 'node', '--kubernetes-version', '1.36', ...ignore)
      assert.equal(
        read(`${kubeletDir}/instance-config.yaml`),
        'containerRuntimeEndpoint: "unix:///run/node-a/rt.sock"\n',
      )
      assert.doesNotMatch(read(`${kubeletDir}/kubeadm-flags.env`), /container-runtime-endpoint/)
      assert.match(
        read(`${kubeletDir}/config.yaml`),
        /^containerRuntimeEndpoint: unix:\/\/\/run\/node-a\/rt\.sock$/m,
      )
      strays = 0
      await must('systemctl', 'restart', 'keelson-kubelet')
      const container = await runStaticPod('two')
      kept[container.id] = 'two'
      assert.equal(strays, 0)
    },
  },
  {
    name: 'init with the gate on, to yet another socket: instance file and config.yaml, and a pod that runs there',
    timeoutMs: 240_000,
    async run() {
      await must('systemctl', 'stop', 'keelson-kubelet')
      moveRuntime('/run/node-b/rt.sock')
      await must(program, 'node', 'init', '--config', initConfig('v1.36.0', `unix://${socket}`, ''))
      assert.match(
        read(`${kubeletDir}/config.yaml`),
        /^containerRuntimeEndpoint: unix:\/\/\/run\/node-b\/rt\.sock$/m,
      )
      assert.equal(
        read(`${kubeletDir}/kubeadm-flags.env`),
        'KUBELET_KUBEADM_ARGS="--hostname-override=lab-node"\n',
      )
      strays = 0
      await must('systemctl', 'start', 'keelson-kubelet')
      const container = await runStaticPod('three')
      kept[container.id] = 'three'
      assert.equal(strays, 0)
      const ids = (await listContainers()).filter((c) => c.state === running).map((c) => c.id)
      for (const [id, name] of Object.entries(kept)) assert.ok(ids.includes(id), `${name} goes on`)
    },
  },
  {
    name: 'cri install: the server runs as a service in front, the kubelet goes through it, pods go on',
    timeoutMs: 300_000,
    async run() {
      writeFileSync('/etc/crictl.yaml', `# by hand\nruntime-endpoint: unix://${socket}\ntimeout: 7`)
      chmodSync('/etc/crictl.yaml', 0o600)
      writeFileSync('/etc/default/keelson-cri', 'KEELSON_CRI_ARGS="--port=0 --v=4"\n')
      before = snapshot()
      const dry = await must(program, 'cri', 'install', '--program', program, '--dry-run')
      assert.match(dry, /would write \/etc\/systemd\/system\/keelson-cri\.service/)
      assert.deepEqual(snapshot(), before)
      const from = Date.now()
      const output = await must(program, 'cri', 'install', '--program', program)
      const seconds = Math.round((Date.now() - from) / 1000)
      assert.match(output, /started keelson-cri\.service\nrestarted keelson-kubelet\.service\n/)
      assert.equal(await stateOf('keelson-cri'), 'active')
      assert.equal((await call('systemctl', 'is-enabled', 'keelson-cri')).output.trim(), 'enabled')
      assert.equal(read('/etc/crictl.yaml'), `# by hand\nruntime-endpoint: "${listen}"\ntimeout: 7`)
      assert.equal(lstatSync('/etc/crictl.yaml').mode & 0o777, 0o600)
      const container = await runStaticPod('four')
      kept[container.id] = 'four'
      const log = (await call('journalctl', '--no-pager', '-u', 'keelson-cri')).output
      assert.match(log, /RunPodSandbox/)
      const connections = connectionsAt(/keelson\/\.?cri\.sock/)
      assert.ok(connections > 0, read('/proc/net/unix'))
      const ids = (await listContainers()).filter((c) => c.state === running).map((c) => c.id)
      for (const [id, name] of Object.entries(kept)) assert.ok(ids.includes(id), `${name} goes on`)
      return { seconds, connections }
    },
  },
  {
    name: 'a second install changes nothing and restarts nothing',
    timeoutMs: 120_000,
    async run() {
      const now = snapshot()
      const pids = [await mainPid('keelson-cri'), await mainPid('keelson-kubelet')]
      assert.match(await must(program, 'cri', 'install', '--program', program), /no changes needed/)
      assert.deepEqual(snapshot(), now)
      assert.deepEqual([await mainPid('keelson-cri'), await mainPid('keelson-kubelet')], pids)
    },
  },
  {
    name: 'cri uninstall: byte for byte as before, the service gone, the kubelet at the runtime, pods go on',
    timeoutMs: 300_000,
    async run() {
      strays = 0
      const output = await must(program, 'cri', 'uninstall')
      assert.match(output, /restarted keelson-kubelet\.service\nstopped keelson-cri\.service\n/)
      assert.deepEqual(snapshot(), before)
      assert.equal(await stateOf('keelson-cri'), 'inactive')
      assert.notEqual((await call('systemctl', 'cat', 'keelson-cri')).code, 0)
      const container = await runStaticPod('five')
      kept[container.id] = 'five'
      const ids = (await listContainers()).filter((c) => c.state === running).map((c) => c.id)
      for (const [id, name] of Object.entries(kept)) assert.ok(ids.includes(id), `${name} goes on`)
      assert.equal(strays, 0)
      assert.match(await must(program, 'cri', 'uninstall'), /not installed/)
    },
  },
  {
    name: 'an installation whose server cannot run is undone, and the kubelet has not noticed',
    timeoutMs: 240_000,
    async run() {
      const pid = await mainPid('keelson-kubelet')
      const { code, output } = await call(program, 'cri', 'install', '--program', '/usr/bin/false')
      assert.equal(code, 1, output)
      assert.match(output, /\[systemd\.failed\]/)
      assert.deepEqual(snapshot(), before)
      assert.equal(await stateOf('keelson-cri'), 'inactive')
      assert.equal(await mainPid('keelson-kubelet'), pid, await kubeletLog())
    },
  },
]
