// A node as `keelson up` makes it in the lab: a real kernel with cgroup v2, a real containerd, the kubelet, and pods that
// show each state of a bar. A browser of the host reaches it over the port that leads in.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ask } from '../serve/client.js'
import { freePorts } from '../support/command.js'
import { buildCommandLine, type LabCommand, removeCommandLine, startKeelson } from '../support/lab-command.js'

interface Work {
  readonly container: string
  readonly command: readonly string[]
  /** Memory. Without: none. */
  readonly request?: string
  readonly limit?: string
}

const hog = (mib: number): readonly string[] => ['/bin/hog', String(mib), '10000']
/** Faults its memory in anew every few seconds, and passes memory.high each time. */
const greedy = ['/bin/sh', '-c', 'while :; do timeout 4 hog 37 1000; done']

export const works: Readonly<Record<string, readonly Work[]>> = {
  web: [
    { container: 'server', command: hog(14), request: '16Mi', limit: '32Mi' },
    { container: 'proxy', command: hog(3), request: '4Mi', limit: '16Mi' },
  ],
  database: [{ container: 'main', command: hog(36), request: '48Mi', limit: '48Mi' }],
  'import-job': [{ container: 'main', command: greedy, request: '8Mi', limit: '40Mi' }],
  search: [{ container: 'main', command: hog(28), request: '16Mi', limit: '32Mi' }],
  cache: [
    {
      container: 'main',
      command: ['/bin/cache-reader', '/tmp/file', '12', '5'],
      request: '16Mi',
      limit: '32Mi',
    },
  ],
  nightly: [{ container: 'main', command: hog(8) }],
}

const resources = ({ request, limit }: Work) =>
  request === undefined || limit === undefined
    ? {}
    : request === limit
      ? { limits: { memory: limit, cpu: '200m' } }
      : { requests: { memory: request }, limits: { memory: limit } }

const manifest = (name: string, list: readonly Work[]): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      terminationGracePeriodSeconds: 2,
      containers: list.map((work) => ({
        name: work.container,
        image: 'keelson.local/busybox:1',
        imagePullPolicy: 'Never',
        command: work.command,
        resources: resources(work),
      })),
    },
  })

export interface UpNode {
  readonly url: string
  loginLink(): Promise<string>
  /** Runs a command inside the container and gives what it prints. */
  exec(pod: string, container: string, command: readonly string[]): Promise<string>
  get(path: string): Promise<string>
  close(): Promise<void>
}

async function isReady(run: LabCommand): Promise<void> {
  let ended = false
  void run.ended.then(() => {
    ended = true
  })
  for (const until = Date.now() + 400_000; !/node ready/.test(run.stdout()); await sleep(200))
    if (ended || Date.now() > until) throw new Error(`no node:\n${run.stdout()}\n${run.stderr()}`)
}

export async function startUpNode(): Promise<UpNode> {
  await buildCommandLine()
  const [port = 0] = await freePorts(1)
  // Below /tmp, which the machine in the lab sees as the host has it.
  const pods = mkdtempSync(join(tmpdir(), 'keelson-up-pods-'))
  for (const [name, list] of Object.entries(works))
    writeFileSync(join(pods, `${name}.yaml`), manifest(name, list))
  const run = startKeelson(['up', '--on', 'lab', '--port', String(port), '--pods', pods])
  const close = async (): Promise<void> => {
    run.child.kill('SIGINT')
    await run.ended
    rmSync(pods, { recursive: true, force: true })
    rmSync(run.dir, { recursive: true, force: true })
    removeCommandLine()
  }
  try {
    await isReady(run)
  } catch (e) {
    await close()
    throw e
  }
  const access = join(run.dir, `keelson-up-${process.getuid?.() ?? 0}`, 'node')
  const token = readFileSync(join(access, 'keelson-token'), 'utf8').trim()
  const tell = async (method: string, path: string): Promise<string> => {
    const told = await ask({
      port,
      method,
      path,
      token,
      headers: { accept: 'application/json' },
      timeoutMs: 60_000,
    })
    if (told.status >= 300) throw new Error(`${method} ${path}: ${told.status} ${told.body}`)
    return told.body
  }
  const url = `https://127.0.0.1:${port}`
  return {
    url,
    async loginLink() {
      return url + (JSON.parse(await tell('POST', '/login')) as { path: string }).path
    },
    async exec(pod, container, command) {
      const query = new URLSearchParams(command.map((word): [string, string] => ['command', word]))
      const told = await tell('POST', `/run/default/${pod}/${container}?${query}`)
      const { exitCode, stdout, stderr } = JSON.parse(told) as Record<'stdout' | 'stderr', string> & {
        exitCode: number
      }
      if (exitCode !== 0) throw new Error(Buffer.from(stderr, 'base64').toString())
      return Buffer.from(stdout, 'base64').toString()
    },
    get: (path) => tell('GET', path),
    close,
  }
}
