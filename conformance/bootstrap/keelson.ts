// Runs `keelson node` on a private root: the built command, the same documents, the same phases as kubeadm.
import { join } from 'node:path'
import { runCommand } from '../process.js'
import {
  formatInitDocuments,
  formatJoinDocument,
  formatResetDocument,
  formatUpgradeDocument,
  nodeName,
} from './documents.js'
import { type NodeRun, places } from './kubeadm.js'
import type { Scenario } from './scenario.js'

const TIMEOUT_MS = 60_000
const main = join(import.meta.dirname, '..', '..', 'dist', 'cli', 'main.js')

/** The documents differ in nothing; only paths do, because kubeadm reads them inside its chroot. */
function documentOf(run: NodeRun, scenario: Scenario): string {
  switch (scenario.command) {
    case 'init':
      return formatInitDocuments(scenario, run.context)
    case 'join':
      return formatJoinDocument(scenario, places.admin, run.context)
    case 'upgrade node':
    case 'upgrade apply':
      return formatUpgradeDocument(run.context)
    case 'reset':
      return formatResetDocument(scenario)
  }
}

/** `kep`: the KEP's text; `upstream`: what kubeadm does where it differs. */
export type Profile = 'kep' | 'upstream'

export async function runWithKeelson(run: NodeRun, scenario: Scenario, profile: Profile): Promise<string> {
  const { root, server } = run
  await root.write(places.config, documentOf(run, scenario))
  const { stdout, stderr } = await runCommand(
    process.execPath,
    [
      main,
      'node',
      ...scenario.command.split(' '),
      ...['--rootfs', root.path, '--kubeconfig', server.kubeconfig, '--node-name', nodeName],
      ...['--config', root.inside(places.config), '--kubernetes-version', run.context.version],
      ...['--skip-phases', 'preflight', '--profile', profile],
    ],
    { timeoutMs: TIMEOUT_MS },
  )
  return stdout + stderr
}
