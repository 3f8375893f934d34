// What the dashboard of every process needs from this machine: log files, the built page, and the doctor.
import type { Command } from 'commander'
import { readDoctorPage } from '../adapters/files/doctor-pages.js'
import { createLogTail } from '../adapters/files/log-tail.js'
import { readPage } from '../adapters/files/page-files.js'
import type { LiveSetting, LiveWarning } from '../core/dashboard/model.js'
import type { LivePorts } from '../serve/dashboard/create-dashboard.js'

export const openLivePorts = (): LivePorts => ({
  logs: createLogTail(),
  page: readPage(),
  doctorPage: readDoctorPage,
})

/** The findings of the doctor, worst first. `endpoint`: the runtime that this process uses. */
export async function diagnose(
  env: Readonly<Record<string, string | undefined>>,
  endpoint: string | undefined,
  signal: AbortSignal,
): Promise<readonly LiveWarning[]> {
  // Loaded with the first open dashboard: without one the doctor costs no memory.
  const [{ wireDoctor }, { gatherFacts }, { checks }, { runChecks }] = await Promise.all([
    import('./doctor/wire.js'),
    import('../doctor/gather.js'),
    import('../doctor/checks/index.js'),
    import('../doctor/run-checks.js'),
  ])
  const ports = await wireDoctor({ named: [], rules: [], env })
  const facts = await gatherFacts(ports, { ...(endpoint === undefined ? {} : { endpoint }), signal })
  const found = runChecks(checks, facts).answers.flatMap(({ name, page, findings }) =>
    findings.flatMap(({ severity, message, remedy, evidence }): LiveWarning[] =>
      severity === 'ok' || severity === 'skipped'
        ? []
        : [{ id: name, severity, message, remedy: remedy ?? '', evidence, page }],
    ),
  )
  const order = ['error', 'warn', 'info']
  return found.toSorted((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity))
}

/** The command line as settings with origins. A path to a secret may be shown, a secret never is one of our flags. */
export function flagSettings(command: Command): readonly LiveSetting[] {
  return command.options
    .filter((option) => !option.hidden)
    .map((option): LiveSetting => {
      const name = option.attributeName()
      const value: unknown = command.getOptionValue(name)
      const text = value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)
      const isGiven = command.getOptionValueSource(name) === 'cli'
      return {
        path: option.long?.replace(/^--/, '') ?? name,
        value: text,
        origin: isGiven ? `flag ${option.long ?? name}` : 'default',
      }
    })
    .filter(({ path }) => path !== 'help')
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}
