// KEP-4033: which cgroup driver this process uses, from what the runtime said and what is configured, or why it must
// not start. Asking the runtime is kubelet/discover-driver.ts; what a release allows is feature-rules.ts.
import type { CgroupDriver } from '../cgroup/name.js'
import type { ErrorCode } from '../errors.js'
import type { CgroupDriverRules } from '../release/rules.js'

/** Every way in which asking RuntimeConfig can end. */
export type RuntimeConfigAnswer =
  | { readonly kind: 'not-asked' }
  | { readonly kind: 'driver'; readonly driver: CgroupDriver }
  /** A number that CRI v1 has no word for. */
  | { readonly kind: 'unknown-driver'; readonly value: number }
  /** A message without the `linux` field. */
  | { readonly kind: 'no-linux' }
  | { readonly kind: 'unimplemented'; readonly calls: number }
  | { readonly kind: 'failed'; readonly calls: number; readonly reason: string }

/** Where the driver was set: `cri` is the runtime itself. */
type DriverSource = 'cri' | 'flag' | 'dropin' | 'config' | 'default'

export interface ConfiguredDriver {
  /** As written: only a word that is needed has to be a driver. */
  readonly value: string
  readonly source: Exclude<DriverSource, 'cri'>
  /** For people: `/var/lib/kubelet/config.yaml:12`, `flag --cgroup-driver`. */
  readonly place: string
}

export interface DriverFacts {
  readonly answer: RuntimeConfigAnswer
  readonly configured: ConfiguredDriver
  readonly rules: CgroupDriverRules
  /** `1.36`, for messages. */
  readonly kubernetes: string
  readonly os: 'linux' | 'windows'
  /** No API server to report to. */
  readonly standalone: boolean
  readonly socket: string
}

export interface DriverInUse {
  readonly kind: 'in-use'
  /** Undefined on Windows, which has no cgroups. */
  readonly driver: CgroupDriver | undefined
  readonly source: DriverSource
  /** The runtime was asked and did not say, so the configured driver is used. */
  readonly fallback: 'unimplemented' | 'no-linux' | undefined
  /** Label of kubelet_cri_losing_support; undefined: the metric must not exist. */
  readonly losingSupport: string | undefined
  /** Whether the Node gets the Event RuntimeUpgradeNeeded. */
  readonly event: boolean
  /** An explicit setting that the runtime's word replaced. */
  readonly overruled: ConfiguredDriver | undefined
}

interface DriverRefused {
  readonly kind: 'refused'
  readonly code: ErrorCode
  readonly message: string
}

export type DriverDecision = DriverInUse | DriverRefused

/** The KEP's own sentence, word by word: people search for it. */
export const deprecatedFallbackLine =
  'cgroupDriver option has been deprecated and will be dropped in a future release. Please upgrade to a CRI implementation that supports cgroup-driver detection.'

/** The oldest releases that answer RuntimeConfig. */
export const oldestAnsweringRuntimes = 'containerd 2.0 or CRI-O 1.28'

export const isCgroupDriverName = (word: string): word is CgroupDriver =>
  word === 'cgroupfs' || word === 'systemd'

export function decideDriver(facts: DriverFacts): DriverDecision {
  const { answer, socket } = facts
  switch (answer.kind) {
    case 'not-asked':
      return useConfigured(facts, undefined)
    case 'driver':
      return fromRuntime(facts, answer.driver)
    case 'no-linux':
      // Windows runtimes have nothing to say here, in every release.
      return facts.os === 'windows' ? useConfigured(facts, undefined) : fallBack(facts, 'no-linux')
    case 'unimplemented':
      return fallBack(facts, 'unimplemented')
    case 'unknown-driver':
      return refuse(
        'driver.unknown',
        `RuntimeConfig at ${socket} names the unknown cgroup driver ${answer.value}, known are 0 (systemd) and 1 (cgroupfs); upgrade keelson or fix the runtime`,
      )
    case 'failed':
      return refuse(
        'driver.no-answer',
        `ask the runtime for its cgroup driver: RuntimeConfig at ${socket} failed ${answer.calls} times, the last time with: ${answer.reason}`,
      )
  }
}

function fromRuntime(facts: DriverFacts, driver: CgroupDriver): DriverInUse {
  const { configured, os } = facts
  const isOverruled = configured.source !== 'default' && configured.value !== driver
  return {
    kind: 'in-use',
    driver: os === 'windows' ? undefined : driver,
    source: 'cri',
    fallback: undefined,
    losingSupport: undefined,
    event: false,
    overruled: isOverruled ? configured : undefined,
  }
}

function fallBack(facts: DriverFacts, fallback: 'unimplemented' | 'no-linux'): DriverDecision {
  const { rules, socket, standalone } = facts
  if (rules.fallback === 'removed') {
    const said = fallback === 'unimplemented' ? 'answers UNIMPLEMENTED' : 'leaves out the linux field'
    return refuse(
      'driver.runtime-too-old',
      `the runtime at ${socket} does not report its cgroup driver (RuntimeConfig ${said}), and Kubernetes ${facts.kubernetes} has no fallback; upgrade to ${oldestAnsweringRuntimes} or later`,
    )
  }
  const used = useConfigured(facts, fallback)
  if (used.kind === 'refused') return used
  return {
    ...used,
    losingSupport: fallback === 'unimplemented' ? rules.losingSupportLabel : undefined,
    event: rules.event && !standalone,
  }
}

function useConfigured(facts: DriverFacts, fallback: DriverInUse['fallback']): DriverDecision {
  const { value, source, place } = facts.configured
  if (facts.os === 'linux' && !isCgroupDriverName(value)) {
    const given = JSON.stringify(value.slice(0, 80))
    return refuse(
      'config.invalid',
      `cgroupDriver: ${given} is not a cgroup driver and the runtime names none; write cgroupfs or systemd (${place})`,
    )
  }
  return {
    kind: 'in-use',
    driver: facts.os === 'linux' && isCgroupDriverName(value) ? value : undefined,
    source,
    fallback,
    losingSupport: undefined,
    event: false,
    overruled: undefined,
  }
}

const refuse = (code: ErrorCode, message: string): DriverRefused => ({ kind: 'refused', code, message })
