// Every place that names a CRI socket on this node, which one the kubelet goes by, and what does not fit together.
import { isKeelsonError } from '../core/errors.js'
import type { NodePorts } from '../ports/bootstrap.js'
import { kubeletDefaultEndpoint } from './cri-socket.js'
import { readJournal } from './execute/journal.js'
import { flagsTextOf, instanceOf, type NodeFacts, readNodeFacts } from './facts.js'
import { endpointOfInstance } from './instance-config.js'
import { endpointOfConfig } from './kubelet-config.js'
import { endpointFlag, endpointOfFlags, parseKubeletFlags } from './kubelet-flags.js'
import {
  criSocketAnnotation,
  instanceConfigPath,
  journalPath,
  kubeletConfigPath,
  kubeletFlagsPath,
} from './paths.js'
import { decodeText } from './yaml-text.js'

export interface SocketPlace {
  readonly place: string
  /** Undefined: the place names no endpoint. */
  readonly endpoint: string | undefined
  readonly note?: string
}

export interface StatusFinding {
  readonly problem: string
  readonly remedy: string
}

export interface NodeStatus {
  readonly node: string
  readonly places: readonly SocketPlace[]
  readonly listening: readonly string[]
  /** What a kubelet that starts now would use. */
  readonly wins: {
    readonly endpoint: string
    readonly place: string
    readonly why: string
    readonly answers: boolean
  }
  readonly findings: readonly StatusFinding[]
}

interface Places {
  readonly flag: SocketPlace
  readonly instance: SocketPlace
  readonly config: SocketPlace
  readonly annotation: SocketPlace
  readonly running: SocketPlace
}

export async function readNodeStatus(ports: NodePorts, nodeName: string | undefined): Promise<NodeStatus> {
  const facts = await readNodeFacts(ports, { nodeName, detect: true })
  const running = await ports.kubelet.runningArguments()
  const places = readPlaces(facts, running)
  const wins = decideWinner(places)
  const answers = await ports.sockets.answers(wins.endpoint)
  const pending = (await readJournal(ports.files).catch(() => undefined)) !== undefined
  return {
    node: facts.nodeName,
    places: [places.flag, places.instance, places.config, places.annotation, places.running],
    listening: facts.listening,
    wins: { ...wins, answers },
    findings: [
      ...decideFindings(places, wins.endpoint, answers),
      ...(pending
        ? [
            {
              problem: `an interrupted change is recorded in ${journalPath}`,
              remedy: 'run the command again: it settles it first',
            },
          ]
        : []),
    ],
  }
}

/** A file that cannot be read must not hide the others. */
function tryRead(place: string, read: () => string | undefined, missing: string): SocketPlace {
  try {
    const endpoint = read()
    return endpoint === undefined ? { place, endpoint, note: missing } : { place, endpoint }
  } catch (e) {
    if (!isKeelsonError(e)) throw e
    return { place, endpoint: undefined, note: e.message }
  }
}

function readPlaces(facts: NodeFacts, running: readonly string[] | undefined): Places {
  const absent = (bytes: Uint8Array | undefined, set: string): string =>
    bytes === undefined ? 'no such file' : set
  return {
    flag: tryRead(
      kubeletFlagsPath,
      () => endpointOfFlags(parseKubeletFlags(flagsTextOf(facts) ?? '')),
      absent(facts.flags, `no --${endpointFlag}`),
    ),
    instance: tryRead(
      instanceConfigPath,
      () => endpointOfInstance(instanceOf(facts)),
      absent(facts.instance, 'names no endpoint'),
    ),
    config: tryRead(
      kubeletConfigPath,
      () =>
        facts.config === undefined
          ? undefined
          : endpointOfConfig(decodeText(facts.config, kubeletConfigPath)),
      absent(facts.config, 'names no endpoint'),
    ),
    annotation: {
      place: `annotation ${criSocketAnnotation}`,
      endpoint: facts.cluster?.annotation,
      ...(facts.cluster === undefined
        ? { note: 'not known without --kubeconfig' }
        : facts.cluster.annotation === undefined
          ? { note: 'not set' }
          : {}),
    },
    running: runningPlace(running),
  }
}

function runningPlace(running: readonly string[] | undefined): SocketPlace {
  const place = 'running kubelet'
  if (running === undefined) return { place, endpoint: undefined, note: 'no kubelet runs' }
  const at = running.findLastIndex((w) => w === `--${endpointFlag}` || w.startsWith(`--${endpointFlag}=`))
  const word = running[at]
  if (word === undefined)
    return { place, endpoint: undefined, note: 'its command line names none, so config.yaml counts' }
  return { place, endpoint: word.includes('=') ? word.slice(word.indexOf('=') + 1) : running[at + 1] }
}

function decideWinner({ flag, config }: Places): { endpoint: string; place: string; why: string } {
  if (flag.endpoint !== undefined)
    return { endpoint: flag.endpoint, place: flag.place, why: 'a flag beats config.yaml' }
  if (config.endpoint !== undefined)
    return { endpoint: config.endpoint, place: config.place, why: 'no flag is set' }
  return {
    endpoint: kubeletDefaultEndpoint,
    place: 'default of the kubelet',
    why: 'nothing names an endpoint',
  }
}

/** /var/run is a link to /run on every system that has both. */
const isSameEndpoint = (a: string, b: string): boolean =>
  a.replace('/var/run/', '/run/') === b.replace('/var/run/', '/run/')

function decideFindings(
  { flag, instance, config, annotation, running }: Places,
  wins: string,
  answers: boolean,
): StatusFinding[] {
  const findings: StatusFinding[] = []
  const add = (problem: string, remedy: string) => findings.push({ problem, remedy })
  for (const { place, note } of [flag, instance, config])
    if (note?.startsWith('read ')) add(`${place} cannot be used`, note)
  if (!answers)
    add(`nothing answers at ${wins}`, 'start that runtime, or move the node with keelson node use-socket URL')
  if (flag.endpoint !== undefined && instance.endpoint !== undefined)
    add(
      `${flag.place} carries --${endpointFlag} beside ${instance.place}: the flag wins`,
      `take the flag out, or run keelson node use-socket ${instance.endpoint}`,
    )
  if (
    instance.endpoint !== undefined &&
    config.endpoint !== undefined &&
    !isSameEndpoint(instance.endpoint, config.endpoint)
  )
    add(
      `${config.place} names ${config.endpoint}, ${instance.place} names ${instance.endpoint}`,
      'run keelson node upgrade node phase kubelet-config, unless a patch is meant to differ',
    )
  if (annotation.endpoint !== undefined && !isSameEndpoint(annotation.endpoint, wins))
    add(
      `the annotation names ${annotation.endpoint}, the kubelet uses ${wins}`,
      'upgrade commands up to 1.36 ask the annotation first: change or remove it',
    )
  if (running.endpoint !== undefined && !isSameEndpoint(running.endpoint, wins))
    add(`the running kubelet still uses ${running.endpoint}`, 'restart it: systemctl restart kubelet')
  return findings
}

export function formatNodeStatus(status: NodeStatus): string {
  const width = Math.max(...status.places.map((p) => p.place.length))
  const lines = [
    `node ${status.node}`,
    ...status.places.map((p) => `  ${p.place.padEnd(width)}  ${p.endpoint ?? `- (${p.note ?? 'none'})`}`),
    `  ${'listening'.padEnd(width)}  ${status.listening.length === 0 ? '- (no well-known endpoint answers)' : status.listening.join(', ')}`,
    `the kubelet uses ${status.wins.endpoint} (${status.wins.place}: ${status.wins.why})${status.wins.answers ? '' : ', where nothing answers'}`,
    ...status.findings.map((f) => `problem: ${f.problem}\n  what to do: ${f.remedy}`),
  ]
  return `${lines.join('\n')}\n`
}
