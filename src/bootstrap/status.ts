// Every place that names a CRI socket on this node, which one the kubelet goes by, and what does not fit together.
import { isKeelsonError } from '../core/errors.js'
import {
  decideSocketFindings,
  decideWinner,
  isSameSocket,
  type SocketPlace,
  type SocketPlaces,
  type SocketStatus,
  type SocketWinner,
} from '../doctor/socket-places.js'
import type { NodePorts } from '../ports/bootstrap.js'
import { type DeniedFile, tolerateDenied } from './denied-files.js'
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

interface StatusFinding {
  readonly problem: string
  readonly remedy: string
}

interface NodeStatus {
  readonly node: string
  readonly places: readonly SocketPlace[]
  readonly listening: readonly string[]
  /** What a kubelet that starts now would use. */
  readonly wins: {
    readonly endpoint: string
    readonly place: string
    readonly why: string
    readonly answers: boolean
    readonly denied?: boolean
  }
  readonly findings: readonly StatusFinding[]
}

/** The sockets alone, with what else is read on the way; what the doctor takes. */
export async function readSocketStatus(
  ports: NodePorts,
  nodeName: string | undefined,
): Promise<SocketStatus & { readonly facts: NodeFacts }> {
  const { files, denied: closed } = tolerateDenied(ports.files)
  const facts = await readNodeFacts({ ...ports, files }, { nodeName, detect: true })
  const places = readPlaces(facts, await ports.kubelet.runningArguments(), closed)
  const wins = decideWinner(places)
  const answers = await ports.sockets.answers(wins.endpoint)
  const denied = !answers && (await ports.sockets.isDenied(wins.endpoint))
  return {
    facts,
    places,
    listening: facts.listening,
    wins: { ...wins, answers, ...(denied ? { denied } : {}) },
    findings: decideSocketFindings(places, wins.endpoint, { answers, denied }),
  }
}

export async function readNodeStatus(ports: NodePorts, nodeName: string | undefined): Promise<NodeStatus> {
  const { facts, places, listening: wellKnown, wins, findings } = await readSocketStatus(ports, nodeName)
  const pending = (await readJournal(ports.files).catch(() => undefined)) !== undefined
  const named = [places.flag, places.instance, places.config, places.annotation, places.running]
  const listening = [...wellKnown, ...(await otherListeners(named, wellKnown, ports))]
  return {
    node: facts.nodeName,
    places: named,
    listening,
    wins,
    findings: [
      ...findings.map(({ problem, remedy }) => ({ problem, remedy })),
      ...(pending
        ? [
            {
              problem: `an interrupted change is recorded in ${journalPath}`,
              remedy: 'run the command again: it completes or reverts the change first',
            },
          ]
        : []),
    ],
  }
}

/** Endpoints that some place names and that answer, beside the well-known ones. */
async function otherListeners(
  named: readonly SocketPlace[],
  wellKnown: readonly string[],
  ports: NodePorts,
): Promise<string[]> {
  const others = named
    .map((p) => p.endpoint)
    .filter((e): e is string => e !== undefined && !wellKnown.some((w) => isSameSocket(w, e)))
  const answers = await Promise.all(
    [...new Set(others)].map(async (e) => [e, await ports.sockets.answers(e)]),
  )
  return answers.flatMap(([endpoint, answered]) => (answered === true ? [String(endpoint)] : []))
}

/** What a kubelet that starts now goes by, from its files alone. */
export const winnerOf = (facts: NodeFacts): SocketWinner => decideWinner(readPlaces(facts, undefined, []))

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

function readPlaces(
  facts: NodeFacts,
  running: readonly string[] | undefined,
  denied: readonly DeniedFile[],
): SocketPlaces {
  const open = (place: SocketPlace): SocketPlace => {
    const closed = denied.find((d) => d.path === place.place)
    return closed === undefined ? place : { ...place, note: closed.why, denied: true }
  }
  const absent = (bytes: Uint8Array | undefined, set: string): string =>
    bytes === undefined ? 'no such file' : set
  return {
    flag: open(
      tryRead(
        kubeletFlagsPath,
        () => endpointOfFlags(parseKubeletFlags(flagsTextOf(facts) ?? '')),
        absent(facts.flags, `no --${endpointFlag}`),
      ),
    ),
    instance: open(
      tryRead(
        instanceConfigPath,
        () => endpointOfInstance(instanceOf(facts)),
        absent(facts.instance, 'no endpoint'),
      ),
    ),
    config: open(
      tryRead(
        kubeletConfigPath,
        () =>
          facts.config === undefined
            ? undefined
            : endpointOfConfig(decodeText(facts.config, kubeletConfigPath)),
        absent(facts.config, 'no endpoint'),
      ),
    ),
    annotation: {
      place: `annotation ${criSocketAnnotation}`,
      endpoint: facts.cluster?.annotation,
      ...(facts.cluster === undefined
        ? { note: 'unknown without --kubeconfig' }
        : facts.cluster.annotation === undefined
          ? { note: 'not set' }
          : {}),
    },
    running: runningPlace(running),
  }
}

function runningPlace(running: readonly string[] | undefined): SocketPlace {
  const place = 'running kubelet'
  if (running === undefined) return { place, endpoint: undefined, note: 'no kubelet is running' }
  const at = running.findLastIndex((w) => w === `--${endpointFlag}` || w.startsWith(`--${endpointFlag}=`))
  const word = running[at]
  if (word === undefined)
    return { place, endpoint: undefined, note: 'not on its command line, so config.yaml applies' }
  return { place, endpoint: word.includes('=') ? word.slice(word.indexOf('=') + 1) : running[at + 1] }
}

const noListener = ({ denied }: NodeStatus['wins']): string =>
  denied === true ? '- (none that this user may open)' : '- (no well-known endpoint responds)'

const answerWords = ({ answers, denied }: NodeStatus['wins']): string =>
  answers ? '' : denied === true ? ', which this user may not open' : ', which does not respond'

/** `shown`: paths of the node as they are here. */
export function formatNodeStatus(status: NodeStatus, shown = (text: string): string => text): string {
  const width = Math.max(...status.places.map((p) => shown(p.place).length))
  const lines = [
    `node ${status.node}`,
    ...status.places.map(
      (p) => `  ${shown(p.place).padEnd(width)}  ${p.endpoint ?? shown(`- (${p.note ?? 'none'})`)}`,
    ),
    `  ${'listening'.padEnd(width)}  ${status.listening.length === 0 ? noListener(status.wins) : status.listening.join(', ')}`,
    `the kubelet uses ${status.wins.endpoint} (${shown(status.wins.place)}: ${status.wins.why})${answerWords(status.wins)}`,
    ...status.findings.map((f) => shown(`problem: ${f.problem}\n  fix: ${f.remedy}`)),
  ]
  return `${lines.join('\n')}\n`
}
