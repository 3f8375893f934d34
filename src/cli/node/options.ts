// The command line of the kubeadm commands: its options, and how they and the config file become one request.
import { type Command, Option } from 'commander'
import {
  type CommandName,
  type KubeadmDocuments,
  readKubeadmDocuments,
} from '../../bootstrap/kubeadm-documents.js'
import { parseKubeletConfig } from '../../bootstrap/kubelet-config.js'
import type { KubeletFlag } from '../../bootstrap/kubelet-flags.js'
import { readKubeletPatches } from '../../bootstrap/patches/patch-files.js'
import { checkMix, type NodeRequest } from '../../bootstrap/request.js'
import { keelsonError } from '../../core/errors.js'
import { type Profile, profiles } from '../../core/release/gate-table.js'
import type { NodePorts } from '../../ports/bootstrap.js'

export interface NodeOptions {
  readonly config?: string
  readonly criSocket?: string
  readonly kubeletConfig?: string
  readonly kubeletExtraArg?: readonly string[]
  readonly patches?: string
  readonly featureGates?: string
  readonly kubernetesVersion?: string
  readonly nodeName?: string
  readonly profile: Profile
  readonly ignorePreflightErrors: readonly string[]
  readonly skipPhases?: readonly string[]
  readonly rootfs?: string
  readonly kubeconfig?: string
  readonly dryRun?: boolean
  readonly force?: boolean
  readonly cleanupTmpDir?: boolean
  readonly output: 'text' | 'json'
}

/**
 * A phase has the options of its command. Commander assigns an option that both know to the outer command. So options of
 * every command on the path count, the innermost first.
 */
export function givenOptions<T extends object>(command: Command): T {
  const chain: Command[] = []
  for (let c: Command | null = command; c !== null; c = c.parent) chain.unshift(c)
  const given = chain.flatMap((c) =>
    Object.entries(c.opts()).filter(([key]) => {
      const source = c.getOptionValueSource(key)
      return source !== undefined && source !== 'default'
    }),
  )
  return { ...command.opts<T>(), ...Object.fromEntries(given) }
}

const words = (value: string, before: readonly string[] = []): string[] => [
  ...before,
  ...value.split(',').filter((w) => w !== ''),
]
const collect = (value: string, before: readonly string[] = []): string[] => [...before, value]

export const addPlaceOptions = (command: Command): Command =>
  command
    .option('--rootfs <dir>', 'change the system mounted at this directory instead of this one')
    .option('--kubeconfig <file>', 'read and change the cluster; without it the changes are only printed')
    .option('--node-name <name>', 'node name (default: the host name)')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json']).default('text'))

export function addNodeOptions(command: Command, name: CommandName): Command {
  addPlaceOptions(command)
    .option(
      '--config <file>',
      'kubeadm configuration (v1beta4 or v1beta3), optionally with a KubeletConfiguration',
    )
    .option('--kubernetes-version <version>', 'Kubernetes release whose rules apply, such as 1.36')
    .option(
      '--ignore-preflight-errors <names>',
      'checks whose errors are shown as warnings, separated by commas; all: every check',
      words,
      [],
    )
    .option('--dry-run', 'print the changes without making them')
    .addOption(
      new Option('--profile <profile>', 'rules to follow where the KEP and kubeadm differ')
        .choices([...profiles])
        .default('kep'),
    )
  if (name === 'reset')
    return command
      .option('--cri-socket <url>', 'CRI socket of the runtime (default: as recorded on the node)')
      .option('-f, --force', 'do not ask for confirmation')
      .option('--cleanup-tmp-dir', 'also delete the contents of /etc/kubernetes/tmp')
  command
    .option(
      '--patches <dir>',
      'patches for config.yaml: kubeletconfiguration[suffix][+strategic|merge|json].yaml',
    )
    .option(
      '--kubelet-config <file>',
      'KubeletConfiguration in a separate file; can be used with --cri-socket',
    )
    .option('--feature-gates <list>', 'kubeadm feature gates such as NodeLocalCRISocket=true')
  if (name === 'init' || name === 'join')
    command
      .option('--cri-socket <url>', 'CRI socket of the runtime (default: detected)')
      .option('--kubelet-extra-arg <name=value>', 'additional kubelet flag; may be repeated', collect)
  return command
}

const noDocuments: KubeadmDocuments = { notices: [] }

/** `v=4` -> { name: v, value: 4 } */
function parseExtraArg(text: string): KubeletFlag {
  const at = text.indexOf('=')
  if (at < 1) throw keelsonError('usage.invalid', `--kubelet-extra-arg ${text}: use NAME=VALUE`)
  return { name: text.slice(0, at), value: text.slice(at + 1) }
}

interface ReadRequest {
  readonly request: NodeRequest
  readonly dryRun: boolean
  readonly force: boolean
  readonly skipPhases: readonly string[]
  readonly ignorePreflightErrors: readonly string[]
}

export async function readRequest(
  command: CommandName,
  options: NodeOptions,
  versionArgument: string | undefined,
  input: NodePorts['input'],
): Promise<ReadRequest> {
  checkMix(options.criSocket, options.config)
  const documents =
    options.config === undefined
      ? noDocuments
      : readKubeadmDocuments(await input.read(options.config), options.config, command)
  const patchesDirectory = options.patches ?? documents.settings?.patchesDirectory
  const kubelet =
    options.kubeletConfig === undefined
      ? documents.kubelet
      : parseKubeletConfig(await input.read(options.kubeletConfig), options.kubeletConfig)
  return {
    request: {
      command,
      profile: options.profile,
      nodeName: options.nodeName,
      asked: {
        flag: options.criSocket,
        config: command === 'reset' ? documents.reset?.criSocket : documents.node?.criSocket,
      },
      featureGates: options.featureGates,
      kubernetesVersion: versionArgument ?? options.kubernetesVersion,
      documents,
      kubeletDocument: kubelet,
      extraArgs: (options.kubeletExtraArg ?? []).map(parseExtraArg),
      patches: readKubeletPatches(patchesDirectory === undefined ? [] : await input.walk(patchesDirectory)),
      cleanupTmpDir: options.cleanupTmpDir ?? false,
    },
    dryRun: options.dryRun ?? documents.settings?.dryRun ?? false,
    force: options.force ?? documents.reset?.force ?? false,
    skipPhases: [...(options.skipPhases ?? []), ...(documents.settings?.skipPhases ?? [])],
    ignorePreflightErrors: [
      ...options.ignorePreflightErrors,
      ...(documents.settings?.ignorePreflightErrors ?? []),
    ],
  }
}
