// The command line of `keelson companion`: where pods and settings come from, and what is ours on this machine.
import { type Command, Option } from 'commander'
import { keelsonError } from '../../core/errors.js'
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
  readonly containerRuntimeEndpoint?: string
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

/** Also what the way back needs. */
export const addMachineOptions = (command: Command): Command =>
  command
    .option(
      '--container-runtime-endpoint <endpoint>',
      `CRI socket (default: the kubelet's, else ${defaultRuntimeEndpoint})`,
    )
    .option('--cgroup-mount <directory>', 'cgroup v2 of the host, where it is mounted elsewhere')
    .option('--proc-mount <directory>', 'proc of the host, where it is mounted elsewhere')
    .option('--state-dir <dir>', 'where the values found before the first write are kept', defaultStateDir)
    .addOption(
      new Option('--log-format <format>', 'how log lines look').choices(['text', 'json']).default('text'),
    )
    .option('--v <level>', 'verbosity; from 4 on every request is logged', '0')

export const addSourceOptions = (command: Command): Command =>
  addServerOptions(addPodOptions(command), 'companion', '`ports.companion` of KeelsonConfiguration, 10251')

const addPodOptions = (command: Command): Command =>
  command
    .option('--keelson-config <file>', 'KeelsonConfiguration with policy and factor, below `companion`')
    .addOption(
      new Option('--pods-from <source>', "pods from the kubelet's /pods or from the API server")
        .choices(['kubelet', 'api'])
        .default('kubelet'),
    )
    .option(
      '--kubelet-config <file>',
      "reservations from the kubelet's configuration file, not from /configz",
    )
    .option('--kubelet-url <url>', "the kubelet's HTTPS port", 'https://127.0.0.1:10250')
    .option('--kubelet-token-file <file>', 'token for the kubelet')
    .option(
      '--kubelet-ca-file <file>',
      "the kubelet's certificate (self-signed: /var/lib/kubelet/pki/kubelet.crt) or its authority; may be given again",
      (path: string, before: readonly string[] = []) => [...before, path],
    )
    .option('--kubelet-cert-file <file>', 'client certificate for the kubelet')
    .option('--kubelet-key-file <file>', 'key of the client certificate')
    .option(
      '--kubelet-skip-verify',
      "do not check the kubelet's certificate: whatever listens there gets the token; only with a loopback address",
    )
    .option('--kubeconfig <file>', 'API server, for --pods-from api, for events and for who may read')
    .option('--in-cluster', "the API server with this pod's service account")
    .option('--node-name <name>', 'name of this node (default: NODE_NAME, else the host name)')
    .option('--period <seconds>', 'time between two passes', '60')

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
    throw wrong(`--kubelet-url: ${o.kubeletUrl} is not an address such as https://127.0.0.1:10250`)
  }
  // A token must not go to a stranger: without a check of the certificate only this machine will do.
  if ((o.kubeletSkipVerify === true || url.protocol === 'http:') && !loopback.has(url.hostname))
    throw wrong('--kubelet-skip-verify and http: only with a loopback address; give --kubelet-ca-file')
  if (url.protocol === 'http:' && o.kubeletTokenFile !== undefined)
    throw wrong('--kubelet-token-file: a token is not sent over http, and the read-only port asks for none')
}
