// `keelson doctor`: gathers facts, asks every check, prints, and ends in a status by the worst finding.
import { Command, InvalidArgumentError, Option } from 'commander'
import { checks } from '../../doctor/checks/index.js'
import type { DoctorPorts } from '../../doctor/doctor-ports.js'
import type { DoctorFacts } from '../../doctor/facts.js'
import { fixes } from '../../doctor/fixes/index.js'
import { gatherFacts } from '../../doctor/gather.js'
import { formatReport, reportValue } from '../../doctor/report.js'
import { exitStatusOf, type Report, runChecks, selectChecks } from '../../doctor/run-checks.js'
import type { Io } from '../io.js'
import { applyFixes } from './fix.js'
import { createParityCommand, createSeriesCommand, type ValuesOptions } from './metrics.js'
import { type WireDoctor, wireDoctor } from './wire.js'

interface Options {
  readonly checks: readonly string[]
  readonly skip: readonly string[]
  readonly fix: readonly string[]
  readonly list?: boolean
  readonly verbose?: boolean
  readonly config?: string
  readonly configDir?: string
  readonly keelsonConfig?: string
  readonly kubernetesVersion?: string
  readonly profile?: string
  readonly containerRuntimeEndpoint?: string
  readonly timeout?: number
  readonly output: 'table' | 'json'
}

const description = `Ask what a node needs for the four KEPs and what is wrong with it: cgroups, kernel, runtime, cgroup driver, memory
protection, throttled containers, metrics, sockets, ports. Reads only; works whether a kubelet runs or not.`

const more = `
Exit status: 0 nothing to do, 3 at least one warning, 4 at least one error; 1 the doctor failed, 2 wrong usage.

--fix does what is safe, for the checks that you name, and then looks again:
${fixes.map((f) => `  ${f.check.padEnd(20)} ${f.does}`).join('\n')}

Examples:
  keelson doctor
  keelson doctor -o json | jq '.checks[] | select(.severity == "error")'
  keelson doctor --checks cgroup-driver,protection-chain --verbose
  keelson doctor --fix stale-values
  keelson doctor parity              the runtime's values beside those of cgroups
  keelson doctor series --pods 110   what the metrics of this node cost`

const words = (value: string, before: readonly string[]): string[] => [
  ...before,
  ...value.split(',').filter((w) => w !== ''),
]

const seconds = (text: string): number => {
  const n = Number(text)
  if (!(n >= 1 && n <= 600)) throw new InvalidArgumentError('1 to 600 seconds are possible.')
  return n
}

export const createDoctorCommand = (io: Io, wire: WireDoctor): Command =>
  new Command('doctor')
    .description(description)
    .addOption(
      new Option('-o, --output <format>', 'how to print').choices(['table', 'json']).default('table'),
    )
    .option('--checks <names>', 'only these checks, separated by commas', words, [])
    .option('--skip <names>', 'leave these checks out', words, [])
    .option('--list', 'list the checks and what they ask')
    .option('--verbose', 'show what was seen where all is well, too')
    .option('--fix <checks>', 'mend what is safe to mend, of these checks only', words, [])
    .option('--config <file>', "KubeletConfiguration to judge, instead of the running kubelet's")
    .option('--config-dir <dir>', 'drop-in directory on top of --config')
    .option('--keelson-config <file>', 'KeelsonConfiguration to judge under')
    .option('--container-runtime-endpoint <url>', 'runtime to ask, instead of the one that the kubelet uses')
    .option('--timeout <s>', 'how long to wait for answers (default: 2.5)', seconds)
    .option(
      '--kubernetes-version <version>',
      "the release whose rules apply (default: the kubelet's, or 1.36)",
    )
    .addOption(
      new Option('--profile <profile>', 'whose rules apply (default: kep)').choices(['kep', 'upstream']),
    )
    .addHelpText('after', more)
    .action((options: Options) => runDoctor(options, io, wire))
    .addCommand(createSeriesCommand(io, open(io, wire)).summary('count metrics, and what they cost'))
    .addCommand(createParityCommand(io, open(io, wire)).summary('compare both sources of values'))

const open = (io: Io, wire: WireDoctor) => (options: ValuesOptions & Partial<Options>) =>
  wire({ named: namedFiles(options), rules: rulesOf(options), env: io.env })

export const create = (io: Io): Command => createDoctorCommand(io, wireDoctor)

async function runDoctor(options: Options, io: Io, wire: WireDoctor): Promise<void> {
  const chosen = selectChecks(checks, { only: options.checks, skip: options.skip })
  if (options.list) {
    for (const { name, asks } of chosen) io.stdout.write(`${name.padEnd(20)} ${asks}\n`)
    return
  }
  const ports = await wire({ named: namedFiles(options), rules: rulesOf(options), env: io.env })
  const look = async (): Promise<{ facts: DoctorFacts; report: Report }> => {
    const facts = await gather(ports, options)
    return { facts, report: runChecks(chosen, facts) }
  }
  let { facts, report } = await look()
  if (options.fix.length > 0) {
    const done = await applyFixes(options.fix, facts, ports)
    for (const line of done) io.stderr.write(`fixed: ${line}\n`)
    if (done.length === 0) io.stderr.write('nothing to fix\n')
    else ({ facts, report } = await look())
  }
  io.stdout.write(
    options.output === 'json'
      ? `${JSON.stringify(reportValue(report, facts), undefined, 2)}\n`
      : formatReport(report, facts, { verbose: options.verbose === true }),
  )
  io.exitCode = exitStatusOf(report)
}

const gather = (
  ports: DoctorPorts,
  { containerRuntimeEndpoint: endpoint, timeout }: Options,
): Promise<DoctorFacts> =>
  gatherFacts(ports, {
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(timeout === undefined ? {} : { timeoutMs: timeout * 1000 }),
    signal: new AbortController().signal,
  })

const flag = (name: string, value: string | undefined): string[] =>
  value === undefined ? [] : [`--${name}=${value}`]

const namedFiles = (o: Partial<Options>): string[] => [
  ...flag('config', o.config),
  ...flag('config-dir', o.configDir),
  ...flag('keelson-config', o.keelsonConfig),
]

const rulesOf = (o: Partial<Options>): string[] => [
  ...flag('kubernetes-version', o.kubernetesVersion),
  ...flag('profile', o.profile),
]
