// `keelson explain`: reads manifests and configuration, asks the core, prints. Decides nothing itself.
import { Command, Option } from 'commander'
import { resourceListOf } from '../../config/effective.js'
import type { LoadedConfig } from '../../config/load.js'
import { formatFinding } from '../../config/origin.js'
import { commandManifestLimits, readManifest } from '../../config/read-manifest.js'
import { isKeelsonError, keelsonError } from '../../core/errors.js'
import { type Allocatable, allocatableMemory } from '../../core/plan/allocatable.js'
import type { WeightCurve } from '../../core/plan/cpu-files.js'
import { type ExplainInput, explain } from '../../core/plan/explain.js'
import { applyPodDefaults } from '../../core/pod/defaults.js'
import { parsePod } from '../../core/pod/parse-pod.js'
import { impossibleAmounts, podProblems } from '../../core/pod/problems.js'
import { findPods, workloadKinds } from '../../core/pod/workload.js'
import { formatVersion } from '../../core/release/version.js'
import { type Bytes, bytes } from '../../core/units/bytes.js'
import { parseQuantity, quantityValue } from '../../core/units/quantity.js'
import { readConfig } from '../config-files.js'
import { readInput } from '../input.js'
import type { Io } from '../io.js'
import { type ReachOptions, withReach } from '../pods/find-kubelet.js'
import { askLive, renderLive } from './effective-values.js'
import { evictionNotes } from './eviction-notes.js'
import { renderTable } from './render-table.js'
import { type ExplainHeader, toReport } from './report.js'

interface Options extends ReachOptions {
  readonly filename?: readonly string[]
  readonly live?: string | boolean
  readonly config?: string
  readonly configDir?: string
  readonly keelsonConfig?: string
  readonly featureGates?: string
  readonly allocatableMemory?: string
  readonly memoryCapacity?: string
  readonly swapCapacity?: string
  readonly pageSize: string
  readonly cpuWeightCurve: WeightCurve
  readonly kubernetesVersion?: string
  readonly profile?: string
  readonly strict?: boolean
  readonly output: 'table' | 'json' | 'yaml'
}

const description = `Show the cgroup values of a pod before it runs: memory.min, low, high, max, swap.max, cpu.weight and cpu.max of each
container, the pod and its ancestors. Prints the formula of each value and the reason for each value that is not set.

Reads Pods, lists, and the pod templates of Deployments and other workloads.`

const examples = `
Examples:
  keelson explain -f pod.yaml --feature-gates MemoryQoS=true
  kubectl get deploy web -o yaml | keelson explain -f - --memory-capacity 16Gi
  keelson explain -f pod.yaml --config /var/lib/kubelet/config.yaml -o json
  keelson explain -f pod.yaml --kubernetes-version 1.22 --page-size 1048576
  keelson explain --live web          effective values on the node, and which ancestor caps them
  keelson explain --live --server https://127.0.0.1:10251       the same, from a companion`

export const create = (io: Io): Command =>
  withReach(new Command('explain').description(description))
    .option('-f, --filename <file...>', 'manifests to explain; - reads standard input')
    .option('--live [pod]', 'show intended, written and effective values of a running kubelet or companion')
    .option('--config <file>', 'KubeletConfiguration to use')
    .option('--config-dir <dir>', 'drop-in directory on top of --config')
    .option('--keelson-config <file>', 'KeelsonConfiguration to use')
    .option('--feature-gates <list>', 'gates on top of the configuration, e.g. MemoryQoS=true')
    .option('--memory-capacity <quantity>', 'memory of the node; allocatable memory is computed from it')
    .option('--allocatable-memory <quantity>', 'allocatable memory, if it is not computed from the capacity')
    .option('--swap-capacity <quantity>', 'swap space of the node')
    .option('--page-size <bytes>', 'base page size of the node', '4096')
    .addOption(
      new Option(
        '--cpu-weight-curve <curve>',
        'how the runtime converts shares to cpu.weight; log-quadratic since runc 1.3.2',
      )
        .choices(['linear', 'log-quadratic'])
        .default('linear'),
    )
    .option('--kubernetes-version <version>', 'Kubernetes release whose rules apply (default: 1.36)')
    .addOption(
      new Option(
        '--profile <profile>',
        'rules to follow where the KEPs and the releases differ (default: kep)',
      ).choices(['kep', 'upstream']),
    )
    .option('--strict', 'unknown configuration keys are errors')
    .addOption(
      new Option('-o, --output <format>', 'output format')
        .choices(['table', 'json', 'yaml'])
        .default('table'),
    )
    .addHelpText('after', examples)
    .action(async (options: Options) => runExplain(options, io))

async function runLive(options: Options, io: Io): Promise<void> {
  const answer = await askLive(options, typeof options.live === 'string' ? options.live : undefined)
  if (options.output === 'table') io.stdout.write(renderLive(answer))
  else if (options.output === 'json') io.stdout.write(`${JSON.stringify(answer, null, 2)}\n`)
  else {
    const { stringify } = await import('yaml')
    io.stdout.write(stringify(answer, { lineWidth: 0 }))
  }
}

async function runExplain(options: Options, io: Io): Promise<void> {
  if (options.live !== undefined && options.live !== false) return runLive(options, io)
  if (options.filename === undefined)
    throw keelsonError('usage.invalid', 'explain: give manifests with -f, or --live for a running node')
  const flags = options.featureGates === undefined ? [] : [`--feature-gates=${options.featureGates}`]
  const loaded = await readConfig(options, flags, io)
  // --feature-gates is a flag of this command in its own right, not the kubelet's deprecated one.
  const warnings = loaded.warnings.filter((w) => w.id !== 'flag-deprecated' && w.id !== 'not-honoured')
  for (const warning of warnings) io.stderr.write(`keelson: warning: ${formatFinding(warning)}\n`)
  const { pods, notes } = await readPods(options.filename, io)
  const { input, header: settled } = settle(options, loaded, pods, notes)
  const explanation = explain(input)
  const threshold = loaded.config.kubelet.evictionHard['memory.available']
  const together = evictionNotes(explanation, input.node.memoryCapacity, threshold)
  const header = { ...settled, notes: [...settled.notes, ...together] }
  if (options.output === 'table') io.stdout.write(renderTable(header, explanation))
  else if (options.output === 'json')
    io.stdout.write(`${JSON.stringify(toReport(header, explanation), null, 2)}\n`)
  else {
    const { stringify } = await import('yaml')
    io.stdout.write(stringify(toReport(header, explanation), { lineWidth: 0 }))
  }
}

async function readPods(
  paths: readonly string[],
  io: Io,
): Promise<{ pods: ExplainInput['pods']; notes: string[] }> {
  const pods: { origin: string; pod: ExplainInput['pods'][number]['pod'] }[] = []
  const notes: string[] = []
  for (const path of paths) {
    const file = await readInput(path, commandManifestLimits.bytes, io)
    for (const { line, content } of readManifest(file, commandManifestLimits)) {
      const place = `${file.path}:${line}`
      const found = within(place, () => findPods(content))
      for (const kind of found.skipped) notes.push(`${place}: ${kind} has no pods; skipped`)
      for (const { origin, pod } of found.pods) {
        const parsed = within(`${place}: ${origin}`, () => applyPodDefaults(parsePod(pod)))
        const impossible = impossibleAmounts(parsed)[0]
        if (impossible !== undefined)
          throw keelsonError(
            'pod.invalid',
            `explain ${place}: ${origin}: ${impossible.path}: ${impossible.message}; ${impossible.remedy}`,
          )
        notes.push(...podProblems(parsed).map((p) => `${origin}: ${p.path}: ${p.message}; ${p.remedy}`))
        pods.push({ origin, pod: parsed })
      }
    }
  }
  if (pods.length === 0)
    throw keelsonError(
      'pod.invalid',
      `explain ${paths.join(', ')}: no pod found${notes.length > 0 ? ` (${notes.join('; ')})` : ''}; give one of: ${workloadKinds.join(', ')}, or a list of them`,
    )
  return { pods, notes }
}

/** The core names the field, this names the file. */
function within<T>(place: string, work: () => T): T {
  try {
    return work()
  } catch (e) {
    if (!isKeelsonError(e)) throw e
    throw keelsonError(e.code, `explain ${place}: ${e.message}`, e.details, e)
  }
}

function settle(
  options: Options,
  { config }: LoadedConfig,
  pods: ExplainInput['pods'],
  notes: readonly string[],
): { input: ExplainInput; header: ExplainHeader } {
  const { kubelet } = config
  const amount = (name: string, text: string | undefined): Bytes | undefined =>
    text === undefined ? undefined : readAmount(name, text)
  const memoryCapacity = amount('--memory-capacity', options.memoryCapacity)
  const amounts = {
    'kube-reserved': resourceListOf(kubelet.kubeReserved),
    'system-reserved': resourceListOf(kubelet.systemReserved),
  }
  const given = amount('--allocatable-memory', options.allocatableMemory)
  const allocatable = given ?? reservedFrom(memoryCapacity, amounts)?.forFormula
  const memoryQos = { ...config.memoryQos, cgroupVersion: 2 as const }
  const pageSize = readPageSize(options.pageSize)
  return {
    input: {
      pods,
      cgroupRoot: kubelet.cgroupRoot || '/',
      cgroupsPerQOS: kubelet.cgroupsPerQOS,
      enforceNodeAllocatable: kubelet.enforceNodeAllocatable,
      memoryQos,
      node: {
        allocatableMemory: allocatable ?? bytes(0n),
        memoryCapacity,
        pageSize,
        cpuQuota: {
          enforced: kubelet.cpuCFSQuota,
          periodUs: BigInt(Math.round(kubelet.cpuCFSQuotaPeriod * 1000)),
        },
        swap: {
          behavior: kubelet.memorySwap.swapBehavior,
          capacity: amount('--swap-capacity', options.swapCapacity),
        },
        singleProcessOOMKill: kubelet.singleProcessOOMKill,
        runtimeWeightCurve: options.cpuWeightCurve,
      },
      reserved: {
        amounts,
        cgroups: {
          'kube-reserved': kubelet.kubeReservedCgroup ?? '',
          'system-reserved': kubelet.systemReservedCgroup ?? '',
        },
      },
    },
    header: {
      kubernetesVersion: formatVersion(config.version),
      profile: config.profile,
      memoryQos,
      memoryCapacity,
      allocatableMemory: allocatable,
      pageSize,
      notes: [...notes, ...hints(config.memoryQos.enabled, allocatable)],
    },
  }
}

function hints(enabled: boolean, allocatable: Bytes | undefined): string[] {
  return [
    ...(enabled
      ? []
      : ['the feature gate MemoryQoS is off; --feature-gates MemoryQoS=true shows what it would do']),
    ...(allocatable === undefined
      ? ['allocatable memory is unknown; give --memory-capacity for containers without a limit']
      : []),
  ]
}

const reservedFrom = (
  memoryCapacity: Bytes | undefined,
  amounts: ExplainInput['reserved']['amounts'],
): Allocatable | undefined =>
  memoryCapacity === undefined
    ? undefined
    : allocatableMemory({
        memoryCapacity,
        kubeReserved: amounts['kube-reserved'],
        systemReserved: amounts['system-reserved'],
        memoryEviction: undefined,
      })

function readAmount(name: string, text: string): Bytes {
  try {
    const value = quantityValue(parseQuantity(text))
    if (value < 0n || value >= 2n ** 63n)
      throw keelsonError('quantity.invalid', `${text} is not a valid amount for a node`)
    return bytes(value)
  } catch (e) {
    if (!isKeelsonError(e)) throw e
    throw keelsonError('quantity.invalid', `${name}: ${e.message}`, e.details, e)
  }
}

function readPageSize(text: string): bigint {
  const size = /^[0-9]{1,10}$/.test(text) ? BigInt(text) : 0n
  if (size < 1n || (size & (size - 1n)) !== 0n)
    throw keelsonError(
      'usage.invalid',
      `--page-size: ${text} is not a power of two; give a number of bytes such as 4096`,
    )
  return size
}
