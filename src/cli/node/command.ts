// `keelson node`: the commands of kubeadm that bear on a node's CRI socket, and two of our own.
import { Command } from 'commander'
import type { CommandName } from '../../bootstrap/kubeadm-documents.js'
import { phasesOf } from '../../bootstrap/phases/index.js'
import type { Phase } from '../../bootstrap/phases/phase.js'
import { listPhases } from '../../bootstrap/phases/select.js'
import { formatNodeStatus, readNodeStatus } from '../../bootstrap/status.js'
import type { Io } from '../io.js'
import { addNodeOptions, addPlaceOptions, givenOptions, type NodeOptions } from './options.js'
import { rootedText, withRootedErrors } from './rooted-text.js'
import { runNode } from './run-node.js'
import { createUseSocket } from './use-socket.js'
import { type Wire, wireNode } from './wire.js'

const outside = `
This command prepares and migrates the kubelet configuration of one node (KEP-4656). Certificates, control-plane
manifests, bootstrap tokens, RBAC and add-ons are left to kubeadm.`

const summaries: Readonly<Record<CommandName, string>> = {
  init: 'write the kubelet configuration of the first node and upload it to the cluster',
  join: 'write the kubelet configuration of a new node from that of the cluster',
  'upgrade apply': 'migrate the first control-plane node and its records in the cluster',
  'upgrade node': 'migrate a node: move its CRI socket to instance-config.yaml',
  reset: 'remove pods, kubelet files, certificates and kubeconfigs of this node',
}

/** The same command with other ports: what the vector suite and tests run. */
export function createNodeCommand(io: Io, wire: Wire): Command {
  const upgrade = new Command('upgrade')
    .summary('migrate the kubelet configuration of a node to a newer release')
    .description('Migrate the kubelet configuration of a node to a newer release.')
  upgrade
    .addCommand(kubeadmCommand('upgrade apply', io, wire))
    .addCommand(kubeadmCommand('upgrade node', io, wire))
  return new Command('node')
    .description(
      'Set up, migrate and inspect the kubelet configuration of a node that keeps its own CRI socket (KEP-4656).',
    )
    .addCommand(kubeadmCommand('init', io, wire))
    .addCommand(kubeadmCommand('join', io, wire))
    .addCommand(upgrade)
    .addCommand(kubeadmCommand('reset', io, wire))
    .addCommand(statusCommand(io, wire))
    .addCommand(createUseSocket(io, wire))
    .addHelpText('after', outside)
}

export const create = (io: Io): Command => createNodeCommand(io, wireNode)

function kubeadmCommand(name: CommandName, io: Io, wire: Wire): Command {
  const command = new Command(name.split(' ').at(-1))
  command

    .description(`${sentence(summaries[name])}\n\nPhases, in order:\n${phaseTable(name)}`)
    .summary(summaries[name])
  addNodeOptions(command, name)
    .option('--skip-phases <names>', 'phases to skip, separated by commas', (v) => v.split(','))
    .addHelpText('after', outside)
  if (name === 'upgrade apply') command.argument('[version]', 'target release, such as v1.36.0')
  command.action(async (...args: unknown[]) => {
    const version = name === 'upgrade apply' && typeof args[0] === 'string' ? { version: args[0] } : {}
    await runNode({ command: name, options: givenOptions<NodeOptions>(command), ...version }, io, wire)
  })
  return command.addCommand(phaseCommand(name, io, wire))
}

const sentence = (summary: string): string => `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`

const phaseTable = (name: CommandName): string =>
  listPhases(name)
    .map(({ path, phase }) => `  ${path.padEnd(24)} ${phase.help}`)
    .join('\n')

function phaseCommand(name: CommandName, io: Io, wire: Wire): Command {
  const command = new Command('phase')
    .description(`Run one phase of ${name}; without a name, list them.`)
    .action(() => {
      io.stdout.write(`${phaseTable(name)}\n`)
    })
  for (const phase of phasesOf[name]) command.addCommand(onePhase(name, phase, phase.name, io, wire))
  return command
}

function onePhase(name: CommandName, phase: Phase, path: string, io: Io, wire: Wire): Command {
  const command = new Command(phase.name).description(phase.help)
  addNodeOptions(command, name).action(async () => {
    await runNode({ command: name, phase: path, options: givenOptions<NodeOptions>(command) }, io, wire)
  })
  for (const part of phase.phases ?? [])
    command.addCommand(onePhase(name, part, `${path}/${part.name}`, io, wire))
  return command
}

function statusCommand(io: Io, wire: Wire): Command {
  const command = new Command('status')
    .summary('show where the CRI socket comes from, and any conflicts')
    .description(
      'Show every place that names a CRI socket, which one the kubelet uses and why, and what to fix. Exit status 1 if there are problems.',
    )
  return addPlaceOptions(command).action(async () => {
    const options = givenOptions<NodeOptions>(command)
    await withRootedErrors(options, async () => {
      const status = await readNodeStatus(await wire(options), options.nodeName)
      io.stdout.write(
        options.output === 'json'
          ? `${JSON.stringify(status, undefined, 2)}\n`
          : formatNodeStatus(status, (text) => rootedText(text, options)),
      )
      if (status.findings.length > 0) io.exitCode = 1
    })
  })
}
