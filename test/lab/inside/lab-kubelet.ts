// `keelson kubelet` as a process of its own inside a machine: configuration and manifests in directories of its own, restarted with
// other settings as an administrator would. A scenario that uses it is also the command: see `commandFromHere`.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { processIo } from '../../../src/cli/io.js'
import { run } from '../../../src/cli/program.js'
import { endpoint } from './pod.js'

const commandVariable = 'LAB_KEELSON_ARGS'

/** The same bundle is the command line when it is started again with this variable; call it before anything else. */
export async function commandFromHere(): Promise<void> {
  const given = process.env[commandVariable]
  if (given === undefined) return
  const io = processIo()
  await run(JSON.parse(given) as string[], io)
  process.exit(io.exitCode)
}

export interface Command {
  readonly child: ChildProcess
  output(): string
  readonly ended: Promise<unknown>
}

let slim: string | undefined
/** This module without its source map, which is most of it and which every start would read. */
function commandModule(): string {
  if (slim !== undefined) return slim
  const whole = readFileSync(process.argv[1] ?? '', 'utf8')
  // A line of its own, unlike these words here, which are in the module too.
  const end = whole.lastIndexOf('\n//# sourceMappingURL=')
  slim = `${mkdtempSync('/tmp/lab-command-')}/keelson.mjs`
  writeFileSync(slim, end < 0 ? whole : whole.slice(0, end))
  return slim
}

export function startKeelson(args: readonly string[]): Command {
  const child = spawn(process.execPath, [commandModule()], {
    env: { ...process.env, [commandVariable]: JSON.stringify(args) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (data: Buffer) => {
      output = (output + data.toString()).slice(-200_000)
    })
  return { child, output: () => output, ended: once(child, 'exit') }
}

export interface KubeletSettings {
  readonly driver: string
  /** Lines of KubeletConfiguration. */
  readonly config: string
  readonly keelson?: string
  /** Default: the scenario's containerd. */
  readonly runtime?: string
}

const port = 10250

export class LabKubelet {
  readonly directory = mkdtempSync('/tmp/lab-kubelet-')
  readonly manifests = `${this.directory}/manifests`
  private command: Command | undefined

  constructor() {
    mkdirSync(this.manifests)
  }

  get rootDir(): string {
    return `${this.directory}/root`
  }

  output(): string {
    return this.command?.output() ?? ''
  }

  async start({ driver, config, keelson = '', runtime = endpoint() }: KubeletSettings): Promise<void> {
    writeFileSync(
      `${this.directory}/kubelet.yaml`,
      `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: ${driver}
staticPodPath: ${this.manifests}
podLogsDir: ${this.directory}/logs
failSwapOn: false
address: 127.0.0.1
port: ${port}
containerRuntimeEndpoint: ${runtime}
${config}
`,
    )
    writeFileSync(
      `${this.directory}/keelson.yaml`,
      `apiVersion: keelson.dev/v1alpha1\nkind: KeelsonConfiguration\n${keelson}\n`,
    )
    const command = startKeelson([
      'kubelet',
      `--config=${this.directory}/kubelet.yaml`,
      `--keelson-config=${this.directory}/keelson.yaml`,
      `--root-dir=${this.rootDir}`,
      '--hostname-override=lab',
      '--node-ip=192.0.2.1',
    ])
    this.command = command
    for (const end = Date.now() + 180_000; !command.output().includes('the kubelet is up'); await sleep(20)) {
      assert.equal(command.child.exitCode, null, command.output())
      assert.ok(Date.now() < end, `not up after three minutes:\n${command.output()}`)
    }
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.command?.child.kill(signal)
    await this.command?.ended
    this.command = undefined
  }

  async restart(settings: KubeletSettings): Promise<void> {
    await this.stop()
    await this.start(settings)
  }

  /** In one step, so that nobody reads half a manifest. */
  putPod(name: string, spec: object): void {
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'lab' }, spec }
    writeFileSync(`${this.directory}/next.yaml`, JSON.stringify(pod))
    renameSync(`${this.directory}/next.yaml`, `${this.manifests}/${name}.yaml`)
  }

  removePod(name: string): void {
    rmSync(`${this.manifests}/${name}.yaml`)
  }

  get reach(): readonly string[] {
    return [`--server=https://127.0.0.1:${port}`, `--root-dir=${this.rootDir}`]
  }

  page(path: string): Promise<string> {
    const token = readFileSync(`${this.rootDir}/keelson-token`, 'utf8').trim()
    const headers = { authorization: `Bearer ${token}` }
    return new Promise((resolve, reject) => {
      request({ host: '127.0.0.1', port, path, headers, rejectUnauthorized: false }, (res) => {
        let body = ''
        res.on('data', (part: Buffer) => {
          body += part.toString()
        })
        res.on('end', () =>
          res.statusCode === 200 ? resolve(body) : reject(new Error(`${res.statusCode} ${body}`)),
        )
      })
        .on('error', reject)
        .end()
    })
  }
}
