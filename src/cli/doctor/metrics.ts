// `keelson doctor series` and `keelson doctor parity`: what the metrics of this node cost, and whether both sources of
// values agree on it. Both only read.
import { Command, InvalidArgumentError, Option } from 'commander'
import { createLog } from '../../adapters/log/log.js'
import { createStatsFiles } from '../../adapters/stats-files/stats-files.js'
import { isKeelsonError } from '../../core/errors.js'
import type { DoctorPorts } from '../../doctor/doctor-ports.js'
import { compareValues, isEqual } from '../../doctor/metrics/parity.js'
import { formatParity, parityValue } from '../../doctor/metrics/parity-report.js'
import { readBoth, readCgroupsOnce, type ValuesInput } from '../../doctor/metrics/read-once.js'
import { readText } from '../../doctor/metrics/read-text.js'
import { countSeries, projectSeries } from '../../doctor/metrics/series.js'
import { formatSeries, seriesValue } from '../../doctor/metrics/series-report.js'
import { podPaths, readMachine } from '../../kubelet/node/node-stats.js'
import type { CgroupTree } from '../../ports/cgroups.js'
import { createProcessMetrics } from '../../serve/process-metrics.js'
import { allFamilies } from '../../stats/catalogue/index.js'
import type { RuntimeName } from '../../stats/repair/defects.js'
import type { Io } from '../io.js'
import { addAlias } from '../option-alias.js'

export interface ValuesOptions {
  readonly output: 'table' | 'json'
  readonly verbose?: boolean
  readonly runtimeEndpoint?: string
  readonly timeout?: number
  readonly pods?: number
  readonly nodes?: number
}

/** Opens what the doctor uses, under the options of the command line. */
type OpenPorts = (options: ValuesOptions) => Promise<DoctorPorts>

const DEFAULT_TIMEOUT_S = 30
const DIFFERENT = 3

const count = (text: string): number => {
  const n = Number(text)
  if (!Number.isInteger(n) || n < 1) throw new InvalidArgumentError('use a whole number above 0.')
  return n
}

/** Options of `doctor` itself that matter here; repeated so that --help shows them. */
const shared = (command: Command): Command => {
  command
    .addOption(
      new Option('-o, --output <format>', 'output format').choices(['table', 'json']).default('table'),
    )
    .option('--runtime-endpoint <endpoint>', "CRI socket to check, instead of the kubelet's")
    .option('--timeout <s>', `seconds to wait for values (default: ${DEFAULT_TIMEOUT_S})`)
  return addAlias(command, '--container-runtime-endpoint', '--runtime-endpoint')
}

export const createSeriesCommand = (io: Io, open: OpenPorts): Command =>
  shared(
    new Command('series').description(
      'Count the series of /metrics/cadvisor on this node, by family and kind of row, and estimate the memory of Prometheus.',
    ),
  )
    .option('--keelson-config <file>', 'KeelsonConfiguration with the metrics settings to apply')
    .option('--pods <n>', 'also estimate for this many pods on a node', count)
    .option('--nodes <n>', 'estimate for this many nodes', count)
    .action(async (_: unknown, command: Command) => {
      const options = command.optsWithGlobals<ValuesOptions>()
      await withValues(await open(options), options, async (input, request, waitMs) => {
        const everything = { enable: allFamilies.filter((f) => !f.enabledByDefault).map((f) => f.name) }
        const { cadvisor } = await readCgroupsOnce(
          { ...input, switches: everything },
          waitMs,
          new AbortController().signal,
        )
        const counted = countSeries(readText(cadvisor), request)
        const sizes = [...new Set([counted.pods, options.pods ?? counted.pods])]
        const projections = sizes.map((pods) => projectSeries(counted, pods, options.nodes ?? 1))
        io.stdout.write(
          options.output === 'json'
            ? `${JSON.stringify(seriesValue(counted, projections), undefined, 2)}\n`
            : formatSeries(counted, projections),
        )
      })
    })

export const createParityCommand = (io: Io, open: OpenPorts): Command =>
  shared(
    new Command('parity').description(
      'Compare the metrics of the runtime with those from cgroups before you change PodAndContainerStatsFromCRI.\nExit status: 0 no difference, 3 at least one metric differs.',
    ),
  )
    .option('--verbose', 'also show families without a difference')
    .action(async (_: unknown, command: Command) => {
      const options = command.optsWithGlobals<ValuesOptions>()
      await withValues(await open(options), options, async (input, switches, waitMs) => {
        const report = compareValues(
          await readBoth({ ...input, switches }, waitMs, new AbortController().signal),
          await findName(input, waitMs),
        )
        io.stdout.write(
          options.output === 'json'
            ? `${JSON.stringify(parityValue(report), undefined, 2)}\n`
            : formatParity(report, options.verbose === true),
        )
        io.exitCode = report.families.every(isEqual) ? 0 : DIFFERENT
      })
    })

/** Undefined: the runtime does not say who it is. */
async function findName({ client }: ValuesInput, timeoutMs: number): Promise<RuntimeName | undefined> {
  try {
    const { runtimeName, runtimeVersion } = await client.runtime.version({}, { timeoutMs })
    return { name: runtimeName.toLowerCase(), version: runtimeVersion }
  } catch (e) {
    if (!isKeelsonError(e)) throw e
    return undefined
  }
}

async function withValues(
  ports: DoctorPorts,
  options: ValuesOptions,
  work: (input: ValuesInput, switches: NonNullable<ValuesInput['switches']>, waitMs: number) => Promise<void>,
): Promise<void> {
  const process = await ports.diagnosis.kubeletProcess()
  const [sockets, { loaded }] = await Promise.all([ports.sockets(), ports.findConfig(process)])
  const { kubelet, keelson } = loaded.config
  const configured = process === undefined ? sockets.wins.endpoint : kubelet.containerRuntimeEndpoint
  const waitMs = Number(options.timeout ?? DEFAULT_TIMEOUT_S) * 1_000
  const client = ports.connect(options.runtimeEndpoint ?? configured, waitMs)
  const cgroups = ports.openCgroups()
  const statsFiles = createStatsFiles()
  try {
    await work(
      {
        nodeName: sockets.host.hostname,
        client,
        cgroups,
        procfs: ports.procfs,
        files: statsFiles,
        clock: ports.clock,
        // A command prints its result; what goes wrong on the way is in it.
        log: createLog({ format: 'text', level: 'error', write: () => {} }),
        openMetrics: () => createProcessMetrics({ processDefaults: false }),
        machine: await readMachine({ procfs: ports.procfs, statsFiles }),
        podLogsDir: kubelet.podLogsDir,
        ...pathsOf(cgroups, kubelet.cgroupRoot ?? '/'),
      },
      keelson.metrics,
      waitMs,
    )
  } finally {
    client.close()
    cgroups.close()
  }
}

/** Those of the driver whose tree is there. */
function pathsOf(cgroups: CgroupTree, cgroupRoot: string) {
  const [cgroupfs, systemd] = [podPaths('cgroupfs', cgroupRoot), podPaths('systemd', cgroupRoot)]
  return systemd.podRoots.some((path) => cgroups.exists(path)) ? systemd : cgroupfs
}
