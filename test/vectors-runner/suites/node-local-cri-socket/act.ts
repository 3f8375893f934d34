// The command line of a case, run by the real command; what it printed or why it ended.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { stringify } from 'yaml'
import { createRuntimeSockets } from '../../../../src/adapters/node-root/runtime-sockets.js'
import { createNodeCommand } from '../../../../src/cli/node/command.js'
import { type Wire, wireNode } from '../../../../src/cli/node/wire.js'
import { descendants } from '../../../../src/cli/program.js'
import { type Fields, isFields } from '../../types.js'
import { placeOfPipe, type Scene } from './arrange.js'

export type ActResult =
  | { readonly kind: 'ok'; readonly report: Fields }
  | { readonly kind: 'error'; readonly message: string }

const kinds: Readonly<Record<string, string>> = {
  init: 'InitConfiguration',
  join: 'JoinConfiguration',
  reset: 'ResetConfiguration',
}

export async function act(scene: Scene, input: Fields): Promise<ActResult> {
  let printed = ''
  const io = {
    stdout: { write: (text: string) => (printed += text) },
    stderr: { write: () => true },
    stdin: Readable.from([]),
    env: {},
    exitCode: 0,
  }
  const command = createNodeCommand(io, wireFor(scene, input))
  for (const c of [command, ...descendants(command)])
    c.exitOverride().configureOutput({ writeErr: () => undefined })
  try {
    await command.parseAsync(await argumentsFor(scene, input), { from: 'user' })
  } catch (e) {
    return { kind: 'error', message: e instanceof Error ? e.message : String(e) }
  }
  const report: unknown = JSON.parse(printed)
  if (!isFields(report)) throw new Error('the command printed no report')
  return { kind: 'ok', report }
}

function wireFor(scene: Scene, input: Fields): Wire {
  return async (place) => {
    const ports = { ...(await wireNode(place)), cluster: scene.cluster }
    if (input.os !== 'windows') return ports
    return {
      ...ports,
      host: async () => ({ ...(await ports.host()), os: 'windows' }),
      sockets: createRuntimeSockets(scene.root, (pipe) => placeOfPipe(scene.root, pipe)),
    }
  }
}

async function argumentsFor(scene: Scene, input: Fields): Promise<string[]> {
  const command = String(input.command)
  const args = command.split(' ')
  const version = String(input.kubeadmVersion)
  args.push(
    '--rootfs',
    scene.root,
    '-o',
    'json',
    '--kubernetes-version',
    version,
    '--ignore-preflight-errors',
    'all',
  )
  if (input.dryRun === true) args.push('--dry-run')
  if (command === 'reset') args.push('--force')
  if (command === 'init') args.push('--kubelet-config', join(scene.given, 'kubelet.yaml'))
  if (command === 'init' && typeof input.gate === 'boolean')
    args.push('--feature-gates', `NodeLocalCRISocket=${input.gate}`)
  if (isFields(input.patches)) args.push('--patches', join(scene.given, 'patches'))
  if (typeof input.criSocketFlag === 'string') args.push('--cri-socket', input.criSocketFlag)
  const extraArgs = Array.isArray(input.extraArgs) ? input.extraArgs.filter(Array.isArray) : []
  const newNode = command === 'init' || command === 'join'
  if (typeof input.criSocketConfig === 'string') {
    const config = join(scene.given, 'config.yaml')
    await writeFile(config, stringify(configDocument(command, input.criSocketConfig, extraArgs)))
    args.push('--config', config)
  } else if (newNode)
    for (const [name, value] of extraArgs) args.push('--kubelet-extra-arg', `${name}=${value}`)
  return args
}

function configDocument(command: string, criSocket: string, extraArgs: readonly unknown[][]): Fields {
  const head = { apiVersion: 'kubeadm.k8s.io/v1beta4', kind: kinds[command] ?? '' }
  if (command === 'reset') return { ...head, criSocket }
  const kubeletExtraArgs = extraArgs.map(([name, value]) => ({ name, value }))
  return { ...head, nodeRegistration: { criSocket, kubeletExtraArgs } }
}
