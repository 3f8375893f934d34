// init and join: the three files of a new node, and its annotation where the gate is off.
import { keelsonError } from '../../core/errors.js'
import type { PhaseContext } from '../context.js'
import { formatInstanceConfig, parseInstanceConfig } from '../instance-config.js'
import { planKubeletConfig } from '../kubelet-config.js'
import { endpointFlag, formatKubeletFlags, type KubeletFlag } from '../kubelet-flags.js'
import { instanceConfigPath, kubeletConfigPath, kubeletFlagsPath } from '../paths.js'
import { annotate, type PlanPart } from '../plan.js'
import { warning } from '../warnings.js'
import type { Phase } from './phase.js'

function planKubeletStart(ctx: PhaseContext): PlanPart {
  const { gate, socket, request } = ctx
  const instanceText = gate.on ? formatInstanceConfig(socket.endpoint) : undefined
  const flags = kubeletFlagsOf(ctx)
  const config = planKubeletConfig({
    base: ctx.base(),
    instance: instanceText === undefined ? undefined : parseInstanceConfig(instanceText),
    patches: request.patches.patches,
    profile: request.profile,
  })
  const stale = flags.find((f) => f.name === endpointFlag)?.value
  return {
    writes: [
      ...(instanceText === undefined ? [] : [{ path: instanceConfigPath, text: instanceText }]),
      { path: kubeletConfigPath, text: config },
      { path: kubeletFlagsPath, text: formatKubeletFlags(flags) },
    ],
    kubelet: 'restart',
    cluster: request.command === 'join' && !gate.on ? [annotate(ctx.facts.nodeName, socket.endpoint)] : [],
    warnings: gate.on && stale !== undefined ? [staleFlag(stale)] : [],
    notices: request.patches.notices,
  }
}

export const staleFlag = (value: string) =>
  warning(
    'stale-endpoint-flag',
    `${kubeletFlagsPath} has --${endpointFlag}=${value}, which overrides config.yaml; remove it unless that is intended`,
  )

/** Built-in flags first; an extra argument of the same name takes the place of one. */
function kubeletFlagsOf({ gate, socket, facts, request }: PhaseContext): KubeletFlag[] {
  const { node } = request.documents
  const extra = [...(node?.kubeletExtraArgs ?? []), ...request.extraArgs].map(checkFlag)
  const builtIn: KubeletFlag[] = gate.on ? [] : [{ name: endpointFlag, value: socket.endpoint }]
  if (facts.nodeName !== facts.host.hostname.trim().toLowerCase())
    builtIn.push({ name: 'hostname-override', value: facts.nodeName })
  if (node?.taints !== undefined && node.taints.length > 0)
    builtIn.push({ name: 'register-with-taints', value: node.taints.join(',') })
  return [...builtIn.filter((b) => !extra.some((e) => e.name === b.name)), ...extra]
}

/** The file has one line and the kubelet's unit splits it at blanks: what would break that is refused. */
function checkFlag({ name, value }: KubeletFlag): KubeletFlag {
  const bare = name.replace(/^--/, '')
  if (!/^[A-Za-z][A-Za-z0-9-]*$/.test(bare) || /["\s]/.test(value ?? ''))
    throw keelsonError(
      'config.invalid',
      `kubeletExtraArgs: ${JSON.stringify(name)}=${JSON.stringify(value)}: blanks, line breaks and double quotes are not possible in ${kubeletFlagsPath}`,
      { name },
    )
  return { name: bare, value }
}

export const kubeletStart: Phase = {
  name: 'kubelet-start',
  help: 'write instance-config.yaml, config.yaml and kubeadm-flags.env, and restart the kubelet',
  usesSocket: true,
  plan: planKubeletStart,
}
