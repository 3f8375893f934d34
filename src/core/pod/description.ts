// `keelson describe pod`: one pod on one page, in the order of `kubectl describe`.

import type { PodJson } from './document.js'
import { sourceOf } from './printing.js'
import type { ContainerStateJson, ContainerStatusJson } from './status-json.js'

type Fields = Readonly<Record<string, unknown>>

interface DescribedEvent {
  readonly type: string
  readonly reason: string
  readonly message: string
  readonly container?: string
  readonly count: number
  readonly lastTimestamp: string
}

/** `events`: undefined where the kubelet has none to give. */
export function describePod(pod: PodJson, events?: readonly DescribedEvent[]): string {
  const { metadata, spec, status } = pod
  const lines = [
    row('Name', metadata.name),
    row('Namespace', metadata.namespace),
    row('UID', metadata.uid),
    row('Node', String(spec['nodeName'] ?? '')),
    row('Source', sourceOf(pod)),
    row('Start Time', status.startTime),
    ...mapRows('Labels', metadata.labels ?? {}),
    ...mapRows('Annotations', metadata.annotations ?? {}),
    row(
      'Status',
      metadata.deletionTimestamp === undefined
        ? status.phase
        : `Terminating (until ${metadata.deletionTimestamp})`,
    ),
    ...(status.reason === undefined ? [] : [row('Reason', status.reason)]),
    ...(status.message === undefined ? [] : [row('Message', status.message)]),
    row('IP', status.podIP ?? ''),
    row('QoS Class', status.qosClass),
    row('Restart Policy', String(spec['restartPolicy'] ?? '')),
    row('Grace Period', `${String(spec['terminationGracePeriodSeconds'] ?? '')}s`),
    ...containerPart('Init Containers', spec, 'initContainers', status.initContainerStatuses ?? []),
    ...containerPart('Containers', spec, 'containers', status.containerStatuses),
    'Conditions:',
    ...status.conditions.map(
      (c) =>
        `  ${c.type.padEnd(28)}${c.status}${c.reason === undefined ? '' : `   ${c.reason}: ${c.message ?? ''}`}`,
    ),
    ...volumePart(spec),
    ...eventPart(events),
  ]
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`
}

const row = (name: string, value: string): string => `${`${name}:`.padEnd(18)}${value}`

const mapRows = (name: string, map: Readonly<Record<string, string>>): string[] => {
  const entries = Object.entries(map).map(([key, value]) => `${key}=${value}`)
  return entries.length === 0
    ? [row(name, '<none>')]
    : entries.map((e, i) => (i === 0 ? row(name, e) : `${' '.repeat(18)}${e}`))
}

function containerPart(
  title: string,
  spec: Fields,
  key: string,
  statuses: readonly ContainerStatusJson[],
): string[] {
  if (statuses.length === 0) return []
  const specs = (spec[key] ?? []) as readonly Fields[]
  return [
    `${title}:`,
    ...statuses.flatMap((status) =>
      containerRows(specs.find((c) => c['name'] === status.name) ?? {}, status),
    ),
  ]
}

function containerRows(spec: Fields, status: ContainerStatusJson): string[] {
  const inner = (name: string, value: string): string => `    ${`${name}:`.padEnd(16)}${value}`
  const words = (key: string): string[] => {
    const list = spec[key] as readonly string[] | undefined
    return list === undefined
      ? []
      : [inner(key === 'args' ? 'Args' : 'Command', list.join(' ').slice(0, 200))]
  }
  return [
    `  ${status.name}:`,
    inner('Container ID', status.containerID ?? ''),
    inner('Image', status.image),
    inner('Image ID', status.imageID),
    ...words('command'),
    ...words('args'),
    ...stateRows('State', status.state).map(([name, value]) => inner(name, value)),
    ...stateRows('Last State', status.lastState).map(([name, value]) => inner(name, value)),
    inner('Ready', String(status.ready)),
    inner('Restart Count', String(status.restartCount)),
    ...resourceRows(spec['resources'] as Fields | undefined).map(([name, value]) => inner(name, value)),
  ]
}

function stateRows(
  title: string,
  { waiting, running, terminated }: ContainerStateJson,
): (readonly [string, string])[] {
  if (running !== undefined)
    return [
      [title, 'Running'],
      ['  Started', running.startedAt],
    ]
  if (waiting !== undefined)
    return [
      [title, 'Waiting'],
      ['  Reason', waiting.reason],
      ...(waiting.message === undefined ? [] : [['  Message', waiting.message] as const]),
    ]
  if (terminated === undefined) return []
  return [
    [title, 'Terminated'],
    ['  Reason', terminated.reason],
    ...(terminated.message === undefined ? [] : [['  Message', terminated.message.trimEnd()] as const]),
    ['  Exit Code', String(terminated.exitCode)],
    ['  Started', terminated.startedAt ?? ''],
    ['  Finished', terminated.finishedAt ?? ''],
  ]
}

const resourceRows = (resources: Fields | undefined): (readonly [string, string])[] =>
  ['limits', 'requests'].flatMap((key) => {
    const amounts = Object.entries((resources?.[key] ?? {}) as Fields).map(
      ([name, amount]) => `${name}=${String(amount)}`,
    )
    return amounts.length === 0
      ? []
      : [[key === 'limits' ? 'Limits' : 'Requests', amounts.join(' ')] as const]
  })

function volumePart(spec: Fields): string[] {
  const volumes = (spec['volumes'] ?? []) as readonly Fields[]
  if (volumes.length === 0) return []
  return [
    'Volumes:',
    ...volumes.map(({ name, ...source }) => `  ${String(name).padEnd(28)}${JSON.stringify(source)}`),
  ]
}

function eventPart(events: readonly DescribedEvent[] | undefined): string[] {
  if (events === undefined) return []
  if (events.length === 0) return [row('Events', '<none>')]
  return [
    'Events:',
    ...events.map(({ type, reason, message, container, count, lastTimestamp }) => {
      const times = count === 1 ? '' : ` (x${count})`
      const about = container === undefined ? '' : `${container}: `
      return `  ${lastTimestamp.slice(0, 19)}Z  ${type.padEnd(8)}${reason}${times}  ${about}${message}`
    }),
  ]
}
