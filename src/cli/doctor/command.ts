// `keelson doctor`: gathers facts, runs the checks, prints the report; the worst finding decides the exit status.
import { Command, InvalidArgumentError, Option } from 'commander'
import type { Severity } from '../../doctor/check.js'
import { checks } from '../../doctor/checks/index.js'
import type { DoctorPorts } from '../../doctor/doctor-ports.js'
import type { DoctorFacts } from '../../doctor/facts.js'
import { fixes } from '../../doctor/fixes/index.js'
import { gatherFacts } from '../../doctor/gather.js'
import { formatReport, reportValue } from '../../doctor/report.js'
import { exitStatusOf, type Report, runChecks, selectChecks } from '../../doctor/run-checks.js'
import { type Colour, type Paint, painter } from '../colour.js'
import { suggest } from '../completion/suggest.js'
import { crictlEndpoint } from '../crictl-config.js'
import type { Io } from '../io.js'
import { addAlias } from '../option-alias.js'
import { createExplainCommand } from './explain.js'
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
  readonly runtimeEndpoint?: string
  readonly timeout?: number
  readonly output: 'table' | 'json'
}

const description = `Check this node: cgroups, kernel, runtime, cgroup driver (KEP-4033), memory protection and throttling (KEP-2570), metrics
(KEP-2371), CRI sockets (KEP-4656) and ports. Changes nothing without --fix. Works with and without a running kubelet.`

const more = `
Exit status: 0 no warnings, 3 at least one warning, 4 at least one error; 1 the doctor failed, 2 wrong usage.

--fix applies the safe fixes of the named checks, then runs the checks again:
${fixes.map((f) => `  ${f.check.padEnd(20)} ${f.does}`).join('\n')}

Examples:
  keelson doctor
  keelson doctor -o json | jq '.checks[] | select(.severity == "error")'
  keelson doctor --checks cgroup-driver,protection-chain --verbose
  keelson doctor --fix stale-values
  keelson doctor explain swap        what the check looks at, what a finding means, what to do
  keelson doctor parity              compare the runtime's values with those of cgroups
  keelson doctor series --pods 110   count the metric series of this node and their cost`

const words = (value: string, before: readonly string[]): string[] => [
  ...before,
  ...value.split(',').filter((w) => w !== ''),
]

const checkList = (flag: string, text: string, list: readonly { readonly name: string }[]): Option =>
  suggest(
    new Option(flag, text).argParser(words).default([]),
    list.map(({ name }) => name),
  )

const seconds = (text: string): number => {
  const n = Number(text)
  if (!(n >= 1 && n <= 600)) throw new InvalidArgumentError('use 1 to 600 seconds.')
  return n
}

export const createDoctorCommand = (io: Io, wire: WireDoctor): Command =>
  addAlias(doctorCommand(io, wire), '--container-runtime-endpoint', '--runtime-endpoint')

const doctorCommand = (io: Io, wire: WireDoctor): Command =>
  new Command('doctor')
    .description(description)
    .addOption(
      new Option('-o, --output <format>', 'output format').choices(['table', 'json']).default('table'),
    )
    .addOption(checkList('--checks <names>', 'run only these checks, separated by commas', checks))
    .addOption(checkList('--skip <names>', 'skip these checks', checks))
    .option('--list', 'list the checks')
    .option('--verbose', 'show the question and all evidence of passed checks')
    .addOption(
      checkList(
        '--fix <checks>',
        'apply the safe fixes for these checks',
        fixes.map((f) => ({ name: f.check })),
      ),
    )
    .option('--config <file>', "KubeletConfiguration to check, instead of the running kubelet's")
    .option('--config-dir <dir>', 'drop-in directory on top of --config')
    .option('--keelson-config <file>', 'KeelsonConfiguration to use')
    .option(
      '--runtime-endpoint <endpoint>',
      "CRI socket to check, instead of the kubelet's or that of /etc/crictl.yaml",
    )
    .option('--timeout <s>', 'seconds to wait for each response (default: 2.5)', seconds)
    .option(
      '--kubernetes-version <version>',
      "Kubernetes release whose rules apply (default: the kubelet's, or 1.36)",
    )
    .addOption(
      new Option(
        '--profile <profile>',
        'rules to follow where the KEPs and the releases differ (default: kep)',
      ).choices(['kep', 'upstream']),
    )
    .addHelpText('after', more)
    .action((options: Options) => runDoctor(options, io, wire))
    .addCommand(createExplainCommand(io).summary('print the page of a check'))
    .addCommand(createSeriesCommand(io, open(io, wire)).summary('count metric series and their cost'))
    .addCommand(
      createParityCommand(io, open(io, wire)).summary(
        'compare metrics from the runtime with those from cgroups',
      ),
    )

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
    const facts = await gather(ports, options, crictlEndpoint(io.env))
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
      : formatReport(report, facts, { verbose: options.verbose === true, paint: paintSeverity(painter(io)) }),
  )
  io.exitCode = exitStatusOf(report)
}

const colours: Readonly<Record<Severity, Colour | undefined>> = {
  ok: 'green',
  skipped: 'dim',
  info: undefined,
  warn: 'yellow',
  error: 'red',
}

const paintSeverity =
  (paint: Paint) =>
  (severity: Severity, word: string): string => {
    const colour = colours[severity]
    return colour === undefined ? word : paint(colour, word)
  }

const gather = (
  ports: DoctorPorts,
  { runtimeEndpoint: endpoint, timeout }: Options,
  fallbackEndpoint: string | undefined,
): Promise<DoctorFacts> =>
  gatherFacts(ports, {
    ...(fallbackEndpoint === undefined ? {} : { fallbackEndpoint }),
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
