// Every place that names a CRI socket on a node, which one the kubelet goes by, and what does not fit together.
// Reading the places is bootstrap's business, which shows the same in `keelson node status`.

export interface SocketPlace {
  readonly place: string
  /** Undefined: the place names no endpoint. */
  readonly endpoint: string | undefined
  readonly note?: string
  /** This user may not read it: what it names is not known, which is no fault of the node. */
  readonly denied?: boolean
}

export interface SocketPlaces {
  readonly flag: SocketPlace
  readonly instance: SocketPlace
  readonly config: SocketPlace
  readonly annotation: SocketPlace
  readonly running: SocketPlace
}

export interface SocketWinner {
  readonly endpoint: string
  readonly place: string
  readonly why: string
}

interface SocketFinding {
  readonly id:
    | 'unreadable'
    | 'no-answer'
    | 'stale-flag'
    | 'config-differs'
    | 'annotation-differs'
    | 'old-process'
  readonly problem: string
  readonly remedy: string
}

export interface SocketStatus {
  readonly places: SocketPlaces
  readonly listening: readonly string[]
  /** `denied`: this user may not open it, so it is unknown whether a runtime responds. */
  readonly wins: SocketWinner & { readonly answers: boolean; readonly denied?: boolean }
  readonly findings: readonly SocketFinding[]
}

/** What the kubelet uses when nothing names an endpoint: it says /run, which is the same place; init and kubeadm write it so. */
const kubeletDefaultEndpoint = 'unix:///var/run/containerd/containerd.sock'
export const defaultPlace = 'default of the kubelet'

const endpointFlag = '--container-runtime-endpoint'

const isKnown = ({ flag, config }: SocketPlaces): boolean => flag.denied !== true && config.denied !== true

export function decideWinner(places: SocketPlaces): SocketWinner {
  const { flag, config } = places
  if (flag.endpoint !== undefined)
    return { endpoint: flag.endpoint, place: flag.place, why: 'a flag overrides config.yaml' }
  if (config.endpoint !== undefined)
    return { endpoint: config.endpoint, place: config.place, why: 'no flag is set' }
  return {
    endpoint: kubeletDefaultEndpoint,
    place: defaultPlace,
    why: isKnown(places) ? 'no endpoint is configured' : 'no file that this user can read names an endpoint',
  }
}

/** /var/run is a link to /run on every system that has both. */
export const isSameSocket = (a: string, b: string): boolean =>
  a.replace('/var/run/', '/run/') === b.replace('/var/run/', '/run/')

const isSame = (a: string | undefined, b: string | undefined): boolean =>
  a === undefined || b === undefined || isSameSocket(a, b)

export function decideSocketFindings(
  places: SocketPlaces,
  wins: string,
  { answers, denied }: { readonly answers: boolean; readonly denied: boolean },
): SocketFinding[] {
  const { flag, instance, config, annotation, running } = places
  const findings: SocketFinding[] = []
  const add = (id: SocketFinding['id'], problem: string, remedy: string) =>
    findings.push({ id, problem, remedy })
  for (const { place, note, denied: isClosed } of [flag, instance, config])
    if (isClosed !== true && note?.startsWith('read ')) add('unreadable', `${place} cannot be used`, note)
  // Where the kubelet's own files are closed, what it goes by is not known, and nothing can contradict it.
  if (!isKnown(places)) return findings
  if (!answers && !denied)
    add(
      'no-answer',
      `no runtime responds at ${wins}`,
      'start the runtime, or switch the node with keelson node use-socket URL',
    )
  if (flag.endpoint !== undefined && instance.endpoint !== undefined)
    add(
      'stale-flag',
      `${flag.place} has ${endpointFlag}, which overrides ${instance.place}`,
      `remove the flag, or run keelson node use-socket ${instance.endpoint}`,
    )
  if (!isSame(instance.endpoint, config.endpoint))
    add(
      'config-differs',
      `${config.place} names ${config.endpoint}, ${instance.place} names ${instance.endpoint}`,
      'run keelson node upgrade node phase kubelet-config, unless a patch sets another endpoint on purpose',
    )
  if (!isSame(annotation.endpoint, wins))
    add(
      'annotation-differs',
      `the annotation names ${annotation.endpoint}, the kubelet uses ${wins}`,
      'upgrade commands up to 1.36 read the annotation first: change or remove it',
    )
  if (!isSame(running.endpoint, wins))
    add(
      'old-process',
      `the running kubelet still uses ${running.endpoint}`,
      'restart it: systemctl restart kubelet',
    )
  return findings
}
