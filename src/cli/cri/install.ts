// `keelson cri install` and `uninstall`: the CRI server as a service in front of the runtime of a kubeadm node.
import { resolve } from 'node:path'
import { Command, Option } from 'commander'
import type { CriChangeResult } from '../../bootstrap/cri-install.js'
import { undoPath } from '../../bootstrap/paths.js'
import { type ValuesMode, valuesModes } from '../../core/cri/values-mode.js'
import { keelsonError } from '../../core/errors.js'
import type { Io } from '../io.js'
import { addPlaceOptions, givenOptions, type NodeOptions } from '../node/options.js'
import { rootedText, withRootedErrors } from '../node/rooted-text.js'
import type { Wire } from '../node/wire.js'
import { addAlias } from '../option-alias.js'

interface InstallOptions extends Pick<NodeOptions, 'nodeName' | 'rootfs' | 'kubeconfig' | 'output'> {
  readonly runtimeEndpoint?: string
  readonly listen: string
  readonly mode: 'complete' | 'observe'
  readonly values: ValuesMode
  readonly program?: string
  readonly dryRun?: boolean
  readonly force?: boolean
}

const defaultProgram = '/usr/local/bin/keelson'

/** Tests bring their own ports. */
type LoadWire = () => Promise<Wire>

const loadWire: LoadWire = async () => (await import('../node/wire.js')).wireNode

export function createCriInstall(io: Io, load: LoadWire = loadWire): Command {
  const command = new Command('install')
    .summary('run the CRI server as a systemd service between kubelet and runtime')
    .description(
      'Run the CRI server as a systemd service between the kubelet and the runtime of this node. This writes a systemd unit,\n' +
        "the kubelet's runtime endpoint and /etc/crictl.yaml. The kubelet is switched only after the server has responded.\n" +
        'See docs/cri-install.md.',
    )
    .option('--runtime-endpoint <endpoint>', "CRI socket of the runtime (default: the kubelet's)")
    .option('--listen <endpoint>', 'CRI socket to listen on', 'unix:///run/keelson/cri.sock')
    .addOption(
      new Option('--mode <mode>', 'complete: answer what the runtime lacks; observe: only record it')
        .choices(['complete', 'observe'])
        .default('complete'),
    )
    .addOption(
      new Option(
        '--values <mode>',
        'repair: replace wrong values of the runtime from the kernel; kernel: ask the runtime only for what the kernel\n' +
          'cannot say; trust: pass them on',
      )
        .choices(valuesModes)
        .default('repair'),
    )
    .option(
      '--program <file>',
      `keelson program of the service (default: this one; with --rootfs ${defaultProgram})`,
    )
    .option('--dry-run', 'print the changes without making them')
    .option('-f, --force', 'continue even if the runtime or the server does not respond')
  addAlias(command, '--upstream', '--runtime-endpoint')
  return addPlaceOptions(command).action(async () => {
    const options = givenOptions<InstallOptions>(command)
    // The server's own --mode and --values take the word first, and take any.
    if (options.mode !== 'complete' && options.mode !== 'observe')
      throw keelsonError('usage.invalid', `--mode ${String(options.mode)}: use complete or observe`)
    if (!valuesModes.includes(options.values))
      throw keelsonError('usage.invalid', `--values ${String(options.values)}: use repair, kernel or trust`)
    const { mode, values } = options
    const { installCri } = await import('../../bootstrap/cri-install.js')
    await withRootedErrors(options, async () => {
      const result = await installCri(
        {
          nodeName: options.nodeName,
          dryRun: options.dryRun ?? false,
          force: options.force ?? false,
          upstream: options.runtimeEndpoint,
          listen: options.listen,
          mode,
          values,
          program: programOf(options),
        },
        await (await load())(options),
      )
      print(result, options, io)
    })
  })
}

export function createCriUninstall(io: Io, load: LoadWire = loadWire): Command {
  const command = new Command('uninstall')
    .summary('remove the CRI server and restore every changed file')
    .description(
      'Remove the CRI server. The files of kubelet and crictl are restored byte for byte, then the service is stopped.',
    )
    .option('--dry-run', 'print the changes without making them')
    .option('-f, --force', 'remove the unit file even if it was edited')
  return addPlaceOptions(command).action(async () => {
    const options = givenOptions<InstallOptions>(command)
    const { uninstallCri } = await import('../../bootstrap/cri-uninstall.js')
    await withRootedErrors(options, async () => {
      const result = await uninstallCri(
        { nodeName: options.nodeName, dryRun: options.dryRun ?? false, force: options.force ?? false },
        await (await load())(options),
      )
      print(result, options, io)
    })
  })
}

/** The service runs what runs now, so that it is there and of the same version. */
function programOf({ program, rootfs }: InstallOptions): string[] {
  if (program !== undefined) return [rootfs === undefined ? resolve(program) : program]
  if (rootfs !== undefined && resolve(rootfs) !== '/') return [defaultProgram]
  return [process.execPath, ...process.execArgv, resolve(process.argv[1] ?? '')]
}

function print(result: CriChangeResult, options: InstallOptions, io: Io): void {
  io.stdout.write(
    options.output === 'json'
      ? `${JSON.stringify(result, undefined, 2)}\n`
      : rootedText(format(result), options),
  )
}

function format({ server, plan, outcome, recovery }: CriChangeResult): string {
  const lines = recovery === undefined ? [] : [`an interrupted ${recovery.command} was ${recovery.did} first`]
  if (server === undefined) {
    const known =
      plan.notices.length === 0
        ? ['cri uninstall: the CRI server is not installed; nothing to do']
        : [
            'cri uninstall: cannot tell whether the CRI server is installed',
            ...plan.notices.map((n) => `note: ${n}`),
          ]
    return `${[...lines, ...known].join('\n')}\n`
  }
  lines.push(`${plan.command}: ${server.listen} in front of ${server.upstream}`)
  for (const w of plan.warnings) lines.push(`warning: ${w.message} [${w.id}]`)
  for (const n of [...(recovery?.notices ?? []), ...plan.notices]) lines.push(`note: ${n}`)
  if (outcome === undefined) {
    for (const { path, text, link } of plan.writes)
      lines.push(
        text === undefined
          ? `would remove ${path}`
          : link === true
            ? `would link ${path} to ${text}`
            : path === undoPath
              ? `would write ${path}, for rollback`
              : `would write ${path}:\n${text.trimEnd().replaceAll(/^/gm, '    ')}`,
      )
    return `${lines.join('\n')}\n`
  }
  for (const path of outcome.written) lines.push(`changed ${path}`)
  for (const n of outcome.notices) lines.push(n)
  for (const c of outcome.clusterDone) lines.push(`done in the cluster: ${c}`)
  for (const c of outcome.clusterLeft) lines.push(`still to do in the cluster: ${c}`)
  if (outcome.written.length === 0) lines.push('no changes needed')
  return `${lines.join('\n')}\n`
}
