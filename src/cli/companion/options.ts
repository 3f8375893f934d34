// The command line of `keelson companion`: where pods and settings come from, and what is ours on this machine.
import { type Command, Option } from 'commander'
import { keelsonError } from '../../core/errors.js'
import { addAlias } from '../option-alias.js'
import { addServerOptions, checkServerFlags, type ServerFlags } from '../server-flags.js'

export interface CompanionCommandOptions extends ServerFlags {
  readonly keelsonConfig?: string
  readonly podsFrom: 'kubelet' | 'api'
  readonly kubeletConfig?: string
  readonly kubeletUrl: string
  readonly kubeletTokenFile?: string
  readonly kubeletCaFile?: readonly string[]
  readonly kubeletCertFile?: string
  readonly kubeletKeyFile?: string
  readonly kubeletSkipVerify?: boolean
  readonly kubeconfig?: string
  readonly inCluster?: boolean
  readonly runtimeEndpoint?: string
  readonly nodeName?: string
  readonly stateDir: string
  readonly cgroupMount?: string
  readonly procMount?: string
  readonly period: string
  readonly logFormat: 'text' | 'json'
  readonly v: string
}

const defaultStateDir = '/var/lib/keelson/companion'
export const defaultRuntimeEndpoint = 'unix:///run/containerd/containerd.sock'

/** `rollback` needs them, too. */
export const addMachineOptions = (command: Command): Command => {
  command
    .option(
      '--runtime-endpoint <endpoint>',
      `CRI socket of the runtime (default: the kubelet's, else ${defaultRuntimeEndpoint})`,
    )
    .option('--cgroup-mount <directory>', 'where cgroup v2 of the host is mounted')
    .option('--proc-mount <directory>', 'where proc of the host is mounted')
    .option('--state-dir <dir>', 'where the original values are stored, for rollback', defaultStateDir)
    .addOption(
      new Option('--log-format <format>', 'format of log lines').choices(['text', 'json']).default('text'),
    )
    .option('--v <level>', 'verbosity; from 4 on every request is logged', '0')
  addAlias(command, '--container-runtime-endpoint', '--runtime-endpoint')
  return addAlias(command, '--logging-format', '--log-format')
}

export const addSourceOptions = (command: Command): Command =>
  addServerOptions(addPodOptions(command), 'companion', '`ports.companion` of KeelsonConfiguration, 10251')

const addPodOptions = (command: Command): Command =>
  command
    .option('--keelson-config <file>', 'KeelsonConfiguration; policy and factor are below `companion`')
    .addOption(
      new Option('--pods-from <source>', "list pods from the kubelet's /pods or from the API server")
        .choices(['kubelet', 'api'])
        .default('kubelet'),
    )
    .option('--kubelet-config <file>', 'read reservations from this KubeletConfiguration, not from /configz')
    .option('--kubelet-url <url>', "URL of the kubelet's HTTPS server", 'https://127.0.0.1:10250')
    .option('--kubelet-token-file <file>', 'bearer token for the kubelet')
    .option(
      '--kubelet-ca-file <file>',
      "the kubelet's certificate (self-signed: /var/lib/kubelet/pki/kubelet.crt) or its CA; may be repeated",
      (path: string, before: readonly string[] = []) => [...before, path],
    )
    .option('--kubelet-cert-file <file>', 'client certificate for the kubelet')
    .option('--kubelet-key-file <file>', 'private key of the client certificate')
    .option(
      '--kubelet-skip-verify',
      "do not verify the kubelet's certificate: the token goes to any listener at the address; loopback addresses only",
    )
    .option('--kubeconfig <file>', 'API server for --pods-from api, events, authentication and authorization')
    .option('--in-cluster', 'use the API server and service account of this pod')
    .option('--node-name <name>', 'node name (default: $NODE_NAME, else the host name)')
    .option('--period <seconds>', 'seconds between two passes', '60')

const loopback = new Set(['127.0.0.1', 'localhost', '[::1]'])

export function checkOptions(o: CompanionCommandOptions): void {
  const wrong = (message: string) => keelsonError('usage.invalid', message)
  checkServerFlags(o)
  const periodS = Number(o.period)
  if (!(periodS >= 1 && periodS <= 3600)) throw wrong(`--period: ${o.period} is not 1 to 3600 seconds`)
  if (o.podsFrom === 'api' && o.kubeconfig === undefined && o.inCluster !== true)
    throw wrong('--pods-from api: give --kubeconfig or --in-cluster')
  if ((o.kubeletCertFile === undefined) !== (o.kubeletKeyFile === undefined))
    throw wrong('--kubelet-cert-file and --kubelet-key-file: give both or none')
  let url: URL
  try {
    url = new URL(o.kubeletUrl)
  } catch {
    throw wrong(`--kubelet-url: ${o.kubeletUrl} is not a URL such as https://127.0.0.1:10250`)
  }
  // Without a verified certificate the token may only go to this machine.
  if ((o.kubeletSkipVerify === true || url.protocol === 'http:') && !loopback.has(url.hostname))
    throw wrong(
      '--kubelet-skip-verify and http are allowed with a loopback address only; use --kubelet-ca-file',
    )
  if (url.protocol === 'http:' && o.kubeletTokenFile !== undefined)
    throw wrong('--kubelet-token-file: a token is never sent over http, and the read-only port needs none')
}
