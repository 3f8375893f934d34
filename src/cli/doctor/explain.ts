// `keelson doctor explain CHECK`: the page of a check, for nodes where the documentation is not at hand.
import { Argument, Command } from 'commander'
import { readDoctorPage } from '../../adapters/files/doctor-pages.js'
import { keelsonError } from '../../core/errors.js'
import { checks } from '../../doctor/checks/index.js'
import { pageOf } from '../../doctor/run-checks.js'
import type { Io } from '../io.js'

export const createExplainCommand = (io: Io): Command =>
  new Command('explain')
    .description(
      'Print the page of a check: what it looks at, what a finding means, what to do.\n\n  keelson doctor explain swap',
    )
    .addArgument(new Argument('<check>', 'name of the check').choices(checks.map((c) => c.name)))
    .action((name: string) => {
      const page = readDoctorPage(name)
      if (page === undefined)
        throw keelsonError('input.unreadable', `${pageOf(name)} is not beside this program; see its package`)
      io.stdout.write(page)
    })
