// `keelson node use-socket URL` and `--undo`.
import { Command } from 'commander'
import { type UseSocketResult, undoUseSocket, useSocket } from '../../bootstrap/use-socket.js'
import { keelsonError } from '../../core/errors.js'
import type { Io } from '../io.js'
import { addPlaceOptions, givenOptions, type NodeOptions } from './options.js'
import { rootedText, withRootedErrors } from './rooted-text.js'
import type { Wire } from './wire.js'

interface UseSocketOptions extends NodeOptions {
  readonly undo?: boolean
  readonly restart?: boolean
}

export function createUseSocket(io: Io, wire: Wire): Command {
  const command = new Command('use-socket')
    .summary('switch this node to another CRI socket, and back')
    .description(
      'Switch this node to another CRI socket. Changes instance-config.yaml and config.yaml, or the kubelet flag if the node still uses it.',
    )
    .argument('[url]', 'CRI socket, such as unix:///run/crio/crio.sock')
    .option('--undo', 'undo the last use-socket, byte for byte')
    .option('--restart', 'stop the kubelet before the change and start it afterwards')
    .option('--dry-run', 'print the changes without making them')
    .option('-f, --force', 'continue even if the runtime does not respond or a file was edited')
  return addPlaceOptions(command).action(async (url: string | undefined) => {
    const options = givenOptions<UseSocketOptions>(command)
    if ((url === undefined) !== (options.undo ?? false))
      throw keelsonError('usage.invalid', 'use-socket takes either a URL or --undo')
    const request = {
      nodeName: options.nodeName,
      dryRun: options.dryRun ?? false,
      force: options.force ?? false,
      restart: options.restart ?? false,
    }
    await withRootedErrors(options, async () => {
      const ports = await wire(options)
      const result =
        url === undefined ? await undoUseSocket(request, ports) : await useSocket(url, request, ports)
      io.stdout.write(
        options.output === 'json'
          ? `${JSON.stringify(result, undefined, 2)}\n`
          : rootedText(formatResult(result), options),
      )
    })
  })
}

function formatResult({ endpoint, plan, outcome, recovery }: UseSocketResult): string {
  const lines = [`${plan.command}: ${plan.command.endsWith('--undo') ? 'back to ' : ''}${endpoint}`]
  if (recovery !== undefined) lines.push(`an interrupted ${recovery.command} was ${recovery.did} first`)
  for (const w of plan.warnings) lines.push(`warning: ${w.message} [${w.id}]`)
  for (const n of [...(recovery?.notices ?? []), ...plan.notices]) lines.push(`note: ${n}`)
  if (outcome === undefined)
    for (const w of plan.writes)
      lines.push(w.text === undefined ? `would remove ${w.path}` : `would write ${w.path}`)
  else {
    for (const path of outcome.written) lines.push(`changed ${path}`)
    for (const c of outcome.clusterDone) lines.push(`done in the cluster: ${c}`)
    for (const c of outcome.clusterLeft) lines.push(`still to do in the cluster: ${c}`)
    lines.push(
      outcome.written.length === 0 ? 'no changes needed' : 'restart the kubelet: systemctl restart kubelet',
    )
  }
  return `${lines.join('\n')}\n`
}
