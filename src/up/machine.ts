// Where `keelson up` builds its node, decided from what the machine has: the host itself, or a real kernel as a process.
// Every reason not to start is one message with what to do.
import { keelsonError } from '../core/errors.js'

export type Place = 'host' | 'lab'

export interface MachineFacts {
  readonly platform: string
  /** Node's name for it: `x64`, `arm64`. */
  readonly arch: string
  readonly root: boolean
  readonly cgroupV2: boolean
  /** A directory of running pods is there already: another kubelet lives here. */
  readonly podsHere: boolean
  readonly hasApt: boolean
  /** Debian packages that are missing, for each place. */
  readonly missing: Readonly<Record<Place, readonly string[]>>
  /** Directories that are written to, with what they have left. */
  readonly space: readonly { readonly path: string; readonly freeBytes: bigint }[]
  readonly availableMemoryBytes: bigint
}

export interface UpRequest {
  readonly on: Place | undefined
  readonly endpoint: string | undefined
  /** The demo pods, whose images are ours. */
  readonly demo: boolean
}

export interface UpPlan {
  readonly place: Place
  readonly why: string
  /** Packages to install first. */
  readonly install: readonly string[]
}

const MiB = 1024n * 1024n
const neededSpace = 500n * MiB
/** The machine in the lab has 2 GiB, of which a node with its demo uses the half. */
const neededMemory: Readonly<Record<Place, bigint>> = { host: 512n * MiB, lab: 1280n * MiB }

export function planUp(facts: MachineFacts, request: UpRequest): UpPlan {
  const chosen = choosePlace(facts, request)
  requireSpace(facts, chosen.place)
  const missing = facts.missing[chosen.place]
  if (missing.length > 0 && !(facts.root && facts.hasApt)) throw packagesMissing(facts, missing)
  return { ...chosen, install: missing }
}

function choosePlace(facts: MachineFacts, { on, endpoint, demo }: UpRequest): Omit<UpPlan, 'install'> {
  if (facts.platform !== 'linux')
    throw keelsonError(
      'up.unsupported',
      `run a node here: Linux is required and this is ${facts.platform}; use a Linux machine or a virtual machine`,
    )
  if (endpoint !== undefined && on === 'lab')
    throw keelsonError('usage.invalid', '--runtime-endpoint names a runtime on this host; remove --on lab')
  if (facts.arch !== 'x64' && (endpoint === undefined || demo))
    throw keelsonError(
      'up.unsupported',
      `run a node here: the lab's kernel and the demo's images are for x86-64 and this machine is ${facts.arch}; with your own runtime try --runtime-endpoint URL --no-demo`,
    )
  const obstacle = hostObstacle(facts)
  if (on === 'host' || endpoint !== undefined) {
    if (obstacle !== undefined)
      throw keelsonError('up.unsupported', `run a node on this host: ${obstacle}; use keelson up --on lab`)
    return { place: 'host', why: 'as requested' }
  }
  if (on === 'lab') return { place: 'lab', why: 'as requested' }
  return obstacle === undefined
    ? { place: 'host', why: 'root on cgroup v2' }
    : { place: 'lab', why: obstacle }
}

function hostObstacle({ root, cgroupV2, podsHere }: MachineFacts): string | undefined {
  if (!root) return 'this user is not root'
  if (!cgroupV2) return 'this host uses cgroup v1'
  if (podsHere) return 'another kubelet runs pods here'
  return undefined
}

const packagesMissing = ({ root, hasApt }: MachineFacts, missing: readonly string[]): Error =>
  keelsonError(
    'up.missing',
    hasApt
      ? `${missing.join(', ')} must be installed first${root ? '' : ', which needs root'}: sudo apt-get install -y --no-install-recommends ${missing.join(' ')}`
      : `these programs are missing and there is no apt-get to install them: ${missing.join(', ')} (Debian's names); install them with this system's package manager`,
    { missing },
  )

function requireSpace({ space, availableMemoryBytes }: MachineFacts, place: Place): void {
  for (const { path, freeBytes } of space)
    if (freeBytes < neededSpace)
      throw keelsonError(
        'up.no-space',
        `${path} has ${freeBytes / MiB} MiB free and ${neededSpace / MiB} MiB are needed; free space, or set TMPDIR and KEELSON_LAB_CACHE to a larger disk`,
        { path },
      )
  if (availableMemoryBytes < neededMemory[place])
    throw keelsonError(
      'up.no-space',
      `this machine has ${availableMemoryBytes / MiB} MiB of memory available and ${neededMemory[place] / MiB} MiB are needed; stop other programs`,
    )
}
