// The node software that is compared: which kubelet, and what stands between it and the runtime. Commands and files are
// those of the node environment.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { nodeFlag } from '../../scripts/package/node-flag.js'

/** A row of results is read by this name. */
export const stackNames = ['upstream', 'keelson', 'keelson with cri', 'one process'] as const
export type StackName = (typeof stackNames)[number]

export const stackTitles: Readonly<Record<StackName, string>> = {
  upstream: 'upstream kubelet',
  keelson: 'Keelson',
  'keelson with cri': 'Keelson, gate on, keelson cri',
  'one process': 'Keelson, gate on, CRI server inside',
}

export interface StackPrograms {
  readonly kubelet: string
  /** The bundle of the command line, and the Node that runs it. */
  readonly keelson: string
  readonly node: string
  /** Socket of the runtime. */
  readonly runtime: string
}

export const ports = { server: 10250, health: 10248 } as const

const configuration = (
  directory: string,
  runtime: string,
): string => `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
staticPodPath: ${join(directory, 'manifests')}
podLogsDir: ${join(directory, 'logs')}
containerRuntimeEndpoint: unix://${runtime}
cgroupDriver: cgroupfs
failCgroupV1: false
failSwapOn: false
maxPods: 500
port: ${ports.server}
healthzPort: ${ports.health}
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
evictionHard: {memory.available: 100Mi}
`

const serverInside = (socket: string): string => `apiVersion: keelson.dev/v1alpha1
kind: KeelsonConfiguration
criServer: {listen: "unix://${socket}", values: kernel}
`

/** As in the units of the packages, as is the flag of Node. */
const unitEnvironment = { MALLOC_TRIM_THRESHOLD_: '131072' }

export interface RunningStack {
  readonly kubelet: ChildProcess
  /** `keelson cri`, where it stands in front. */
  readonly server: ChildProcess | undefined
  readonly manifests: string
  stopKubelet(): Promise<void>
  stop(): Promise<void>
}

const STOP_MS = 60_000

async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await gone
  clearTimeout(timer)
}

interface StackOptions {
  readonly directory: string
  readonly certificates: string
  /** More variables of the kubelet of Keelson. */
  readonly env?: Readonly<Record<string, string>>
}

/** `prepare` does what is not part of the start; the kubelet is then started by `start`. */
export async function prepareStack(
  name: StackName,
  programs: StackPrograms,
  { directory, certificates, env = {} }: StackOptions,
): Promise<() => RunningStack> {
  const manifests = join(directory, 'manifests')
  for (const path of [manifests, join(directory, 'logs')]) await mkdir(path, { recursive: true })
  const log = openSync(join(directory, 'kubelet.log'), 'a')
  const start = (argv: readonly string[], more = {}): ChildProcess =>
    spawn(argv[0] ?? '', argv.slice(1), {
      stdio: ['ignore', log, log],
      env: name === 'upstream' ? process.env : { ...process.env, ...unitEnvironment, ...more },
    })
  const between = join(directory, 'cri.sock')
  const keelson = [programs.node, nodeFlag, programs.keelson]
  const isBetween = name === 'keelson with cri'
  const server = isBetween
    ? start([
        ...keelson,
        'cri',
        `--upstream=unix://${programs.runtime}`,
        `--listen=unix://${between}`,
        '--port=0',
        '--values=kernel',
      ])
    : undefined
  if (isBetween) await sleep(3_000) // it is there before the kubelet, as on a node
  const config = join(directory, 'kubelet.yaml')
  await writeFile(config, configuration(directory, isBetween ? between : programs.runtime))
  const flags = [
    `--config=${config}`,
    `--root-dir=${join(directory, 'root')}`,
    `--cert-dir=${certificates}`,
    '--hostname-override=node-1',
  ]
  const isInside = name === 'one process'
  const keelsonConfig = join(directory, 'keelson.yaml')
  if (isInside) await writeFile(keelsonConfig, serverInside(between))
  const gate = [
    ...(isBetween || isInside ? ['--feature-gates=PodAndContainerStatsFromCRI=true'] : []),
    ...(isInside ? [`--keelson-config=${keelsonConfig}`] : []),
  ]
  const command =
    name === 'upstream'
      ? [programs.kubelet, ...flags, '--v=0']
      : [...keelson, 'kubelet', ...flags, '--profile=upstream', '--kubernetes-version=1.37.1', ...gate]
  return () => {
    const kubelet = start(command, env)
    return {
      kubelet,
      server,
      manifests,
      stopKubelet: () => endProcess(kubelet),
      async stop() {
        await endProcess(kubelet)
        if (server !== undefined) await endProcess(server)
      },
    }
  }
}
