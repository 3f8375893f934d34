// What a person does with kubectl on a node, step by step, with what has to come out. The transcript is the proof that is read.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type CommandResult, runCommand } from '../process.js'
import { metricsServerObjects } from './metrics-server.js'

export interface Kubectl {
  /** Arguments after `kubectl`; the command and its output go into the transcript. */
  (
    args: readonly string[],
    options?: { readonly input?: string; readonly accept?: readonly number[] },
  ): Promise<CommandResult>
  readonly file: string
  readonly kubeconfig: string
  readonly directory: string
  /** Its program, at its path on the node. */
  readonly metricsServer: string
}

interface Step {
  readonly name: string
  run(kubectl: Kubectl): Promise<void>
}

const registry = 'registry.k8s.io/e2e-test-images'
const pod = (name: string, container: object, spec: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: name } },
  spec: {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 2,
    containers: [{ name: 'app', image: `${registry}/busybox:1.37.0-2`, ...container }],
    ...spec,
  },
})

const web =
  'mkdir -p /www; echo hello from $HOSTNAME > /www/index.html; echo first line; echo second line; exec httpd -f -v -p 8080 -h /www'
const echo = 'while read line; do echo "heard $line"; done'

export const steps: readonly Step[] = [
  {
    name: 'get nodes',
    async run(kubectl) {
      assert.match((await kubectl(['get', 'nodes'])).stdout, /node-1 +Ready/)
    },
  },
  {
    name: 'apply, wait and get',
    async run(kubectl) {
      const list = [
        pod('web', { command: ['sh', '-c', web] }),
        pod(
          'echo',
          { command: ['sh', '-c', echo], stdin: true, stdinOnce: true },
          { restartPolicy: 'Never' },
        ),
      ]
      await writeFile(
        join(kubectl.directory, 'pods.json'),
        JSON.stringify({ apiVersion: 'v1', kind: 'List', items: list }),
      )
      await kubectl(['apply', '-f', 'pods.json'])
      await kubectl(['wait', '--for=condition=Ready', 'pod/web', 'pod/echo', '--timeout=60s'])
      assert.match((await kubectl(['get', 'pods', '-o', 'wide'])).stdout, /web +1\/1 +Running .*node-1/)
    },
  },
  {
    name: 'logs',
    async run(kubectl) {
      assert.match((await kubectl(['logs', 'web'])).stdout, /^first line\nsecond line\n/)
      const { stdout } = await kubectl(['logs', 'web', '--tail=1', '--timestamps'])
      assert.match(stdout, /^\d{4}-\d\d-\d\dT[^ ]+ /)
      const none = await kubectl(['logs', 'web', '--previous'], { accept: [1] })
      assert.match(none.stderr, /previous terminated container "app" in pod "web" not found/)
      await kubectl(['logs', 'web', '-c', 'other'], { accept: [1] })
    },
  },
  {
    name: 'exec',
    async run(kubectl) {
      assert.equal(
        (await kubectl(['exec', 'web', '--', 'cat', '/www/index.html'])).stdout,
        'hello from web\n',
      )
      const piped = await kubectl(['exec', '-i', 'web', '--', 'wc', '-c'], { input: 'x'.repeat(100_000) })
      assert.equal(piped.stdout.trim(), '100000')
      const failed = await kubectl(['exec', 'web', '--', 'sh', '-c', 'echo sorry >&2; exit 7'], {
        accept: [7],
      })
      assert.match(failed.stderr, /sorry/)
    },
  },
  {
    name: 'attach',
    async run(kubectl) {
      const { stdout } = await kubectl(['attach', '-i', 'echo'], { input: 'one\ntwo\n' })
      assert.match(stdout, /heard one\nheard two/)
    },
  },
  {
    name: 'cp',
    async run(kubectl) {
      const [there, back] = ['there', 'back'].map((name) => join(kubectl.directory, name))
      const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 7919) % 256))
      await writeFile(there ?? '', bytes)
      await kubectl(['cp', 'there', 'web:/tmp/file'])
      await kubectl(['cp', 'web:/tmp/file', 'back'])
      assert.deepEqual(await readFile(back ?? ''), bytes)
    },
  },
  { name: 'port-forward', run: portForward },
  {
    name: 'describe',
    async run(kubectl) {
      const { stdout } = await kubectl(['describe', 'pod', 'web'])
      for (const words of [
        /Scheduled/,
        /Pulled/,
        /Created +.*Container created/,
        /Started +.*Container started/,
      ])
        assert.match(stdout, words)
      assert.match(stdout, /Ready +True/)
    },
  },
  {
    name: 'what metrics-server reads, through the API server',
    async run(kubectl) {
      const { stdout } = await kubectl(['get', '--raw', '/api/v1/nodes/node-1/proxy/metrics/resource'])
      assert.match(stdout, /pod_memory_working_set_bytes\{.*pod="web".*\} [1-9]/)
    },
  },
  { name: 'top, with metrics-server', run: top },
  {
    name: 'delete',
    async run(kubectl) {
      await kubectl(['delete', 'pod', 'echo'])
      const { stderr } = await kubectl(['get', 'pod', 'echo'], { accept: [1] })
      assert.match(stderr, /not found/)
    },
  },
  {
    name: 'cordon, drain and uncordon',
    async run(kubectl) {
      await kubectl(['cordon', 'node-1'])
      assert.match((await kubectl(['get', 'nodes'])).stdout, /SchedulingDisabled/)
      await kubectl(['drain', 'node-1', '--force', '--ignore-daemonsets', '--timeout=60s'])
      assert.match((await kubectl(['get', 'pods'])).stderr, /No resources found/)
      await kubectl(['uncordon', 'node-1'])
    },
  },
]

/** A rate of CPU needs two scrapes. */
const topTries = 30
const topWaitMs = 4_000

async function top(kubectl: Kubectl): Promise<void> {
  const file = 'metrics-server.json'
  const list = { apiVersion: 'v1', kind: 'List', items: metricsServerObjects(kubectl.metricsServer) }
  await writeFile(join(kubectl.directory, file), JSON.stringify(list))
  await kubectl(['apply', '-f', file])
  await kubectl([
    'wait',
    '--for=condition=Available',
    '-n=kube-system',
    'deployment/metrics-server',
    '--timeout=150s',
  ])
  await kubectl(['wait', '--for=condition=Available', 'apiservice/v1beta1.metrics.k8s.io', '--timeout=60s'])
  await untilTop(kubectl)
  assert.match((await kubectl(['top', 'nodes'])).stdout, /node-1 +\d+m +\d+% +[1-9]\d*Mi +\d+%/)
  const pods = await kubectl(['top', 'pods', '--all-namespaces', '--containers'])
  assert.match(pods.stdout, /default +web +app +\d+m +\d+Mi/)
  assert.match(pods.stdout, /kube-system +metrics-server-\S+ +metrics-server +\d+m +[1-9]\d*Mi/)
  await kubectl(['delete', '-f', file])
}

/** Outside of the transcript, which shows the answer and not the wait for it. */
async function untilTop({ file, kubeconfig }: Kubectl): Promise<void> {
  const env = { ...process.env, KUBECONFIG: kubeconfig }
  for (let tries = 0; tries < topTries; tries += 1) {
    const options = { timeoutMs: 30_000, env, accept: [0, 1] }
    const { stdout } = await runCommand(file, ['top', 'pods', '--all-namespaces'], options)
    if (/ web /.test(stdout) && / metrics-server-/.test(stdout)) return
    await sleep(topWaitMs)
  }
}

/** The forwarder runs until it is ended: it cannot be one command of the transcript. */
async function portForward({ file, kubeconfig }: Kubectl): Promise<void> {
  const child = spawn(file, ['port-forward', 'pod/web', ':8080'], {
    env: { ...process.env, KUBECONFIG: kubeconfig },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    let said = ''
    child.stdout.on('data', (data: Buffer) => {
      said += data.toString()
    })
    let port: string | undefined
    for (let tries = 0; tries < 100 && port === undefined; tries += 1) {
      await sleep(100)
      port = /127\.0\.0\.1:(\d+) ->/.exec(said)?.[1]
    }
    for (let times = 0; times < 5; times += 1) {
      const answer = await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(10_000) })
      assert.equal(await answer.text(), 'hello from web\n')
    }
  } finally {
    child.kill()
  }
}
