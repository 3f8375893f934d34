// Fields of KubeletConfiguration that count only for a node of a cluster: registration, heartbeats, certificates.
import type { Taint } from '../../core/kube/objects.js'
import { fieldOf, type Read, read, refuse } from '../field.js'
import { duration, flag, integer, text } from '../field-kinds.js'
import type { Json } from '../node.js'

const unset = { zeroIsUnset: true } as const

const effects = new Set(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])

/** `dedicated=gpu:NoSchedule`, as on the command line, or a mapping, as in the file. */
function readTaint(value: Json): Read<Taint> {
  const words = typeof value === 'string' ? /^([^=:]+)(?:=([^:]*))?:(\w+)$/.exec(value) : null
  const given =
    words === null ? value : { key: words[1] ?? '', value: words[2] ?? '', effect: words[3] ?? '' }
  const wrong = refuse('is not a taint', 'write key, value and effect, or KEY=VALUE:EFFECT in the flag')
  if (given === null || typeof given !== 'object' || Array.isArray(given)) return wrong
  const { key, value: amount = '', effect } = given as Readonly<Record<string, Json>>
  if (typeof key !== 'string' || key === '' || typeof amount !== 'string' || typeof effect !== 'string')
    return wrong
  if (!effects.has(effect))
    return refuse(`has the effect ${effect.slice(0, 40)}`, `write one of ${[...effects].join(', ')}`)
  return read({ key, ...(amount === '' ? {} : { value: amount }), effect })
}

const taintList = fieldOf<readonly Taint[]>('list of taints', (v) => {
  if (!Array.isArray(v)) return refuse('must be a list of taints', 'write a list of key, value and effect')
  const found = v.map(readTaint)
  const wrong = found.find((t) => !t.ok)
  return wrong ?? read(found.flatMap((t) => (t.ok ? [t.value] : [])))
})

export const nodeFields = {
  registerNode: flag('create the Node object, or bring an existing one up to date', {
    since: 23,
    default: true,
  }),
  registerWithTaints: taintList('taints of a Node that is created; an existing one keeps its own', {
    since: 23,
  }),
  providerID: text('spec.providerID of a Node that is created', unset),
  nodeStatusUpdateFrequency: duration()('time between looks at the status of the node', {
    ...unset,
    default: '10s',
  }),
  nodeStatusReportFrequency: duration()(
    'a status that did not change is sent this often; nodeStatusUpdateFrequency, if only that one is set',
    { ...unset, default: '5m0s' },
  ),
  nodeLeaseDurationSeconds: integer(1, 2 ** 31 - 1)(
    'the Lease of the node is renewed four times in this time',
    {
      ...unset,
      default: 40,
    },
  ),
  nodeStatusMaxImages: integer(-1, 2 ** 31 - 1)('images in the status of the node; -1: all', { default: 50 }),
  enableControllerAttachDetach: flag(
    'volumes are attached by the controller, which the Node says in an annotation',
    {
      default: true,
    },
  ),
  eventRecordQPS: integer(0, 2 ** 31 - 1)('events sent per second; 0: no limit', { default: 50 }),
  eventBurst: integer(0, 2 ** 31 - 1)('events sent at once before eventRecordQPS counts', {
    ...unset,
    default: 100,
  }),
  rotateCertificates: flag('renew the client certificate before it ends', { defaultText: '`false`' }),
  serverTLSBootstrap: flag('ask the cluster for the serving certificate, in place of a self-signed one', {
    defaultText: '`false`',
  }),
}
