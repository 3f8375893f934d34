// Runs one kubeadm command: request in, printed report out.
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { createFiles } from '../../adapters/files/files.js'
import type { CommandName } from '../../bootstrap/kubeadm-documents.js'
import { selectPhases } from '../../bootstrap/phases/select.js'
import { reportText, reportValue } from '../../bootstrap/report.js'
import { type NodeResult, runNodeCommand } from '../../bootstrap/run-phases.js'
import { keelsonError } from '../../core/errors.js'
import type { Io } from '../io.js'
import { type NodeOptions, readRequest } from './options.js'
import { rootedText, withRootedErrors } from './rooted-text.js'
import type { Wire } from './wire.js'

interface Invocation {
  readonly command: CommandName
  readonly options: NodeOptions
  readonly version?: string
  /** The only phase to run, as `upload-config/kubelet`. */
  readonly phase?: string
}

export const runNode = (invocation: Invocation, io: Io, wire: Wire): Promise<void> =>
  withRootedErrors(invocation.options, () => runInside(invocation, io, wire))

async function runInside(
  { command, options, version, phase }: Invocation,
  io: Io,
  wire: Wire,
): Promise<void> {
  const ports = await wire(options)
  const read = await readRequest(command, options, version, ports.input)
  const phases = selectPhases(command, { only: phase, skip: read.skipPhases })
  if (command === 'reset' && !read.dryRun && !read.force) await confirmReset(io)
  const result = await runNodeCommand(
    read.request,
    { phases, dryRun: read.dryRun, ignorePreflightErrors: read.ignorePreflightErrors },
    ports,
  )
  if (read.dryRun) await writeDryRun(command, result, io)
  io.stdout.write(
    options.output === 'json'
      ? `${JSON.stringify(reportValue(result, read.dryRun), undefined, 2)}\n`
      : rootedText(reportText(result, read.dryRun), options),
  )
}

async function confirmReset(io: Io): Promise<void> {
  const refusal = keelsonError(
    'usage.invalid',
    "reset removes this node's pods and deletes the contents of /var/lib/kubelet; run it in a terminal and confirm, or pass --force",
  )
  if (!('isTTY' in io.stdin) || io.stdin.isTTY !== true) throw refusal
  const asking = createInterface({ input: io.stdin, output: process.stderr })
  try {
    const answer = await asking.question(
      "Remove this node's pods and delete the contents of /var/lib/kubelet? [y/N] ",
    )
    if (!/^y(es)?$/i.test(answer.trim())) throw refusal
  } finally {
    asking.close()
  }
}

const dryRunVariable: Partial<Record<CommandName, string>> = {
  init: 'KUBEADM_INIT_DRYRUN_DIR',
  join: 'KUBEADM_JOIN_DRYRUN_DIR',
  'upgrade apply': 'KUBEADM_UPGRADE_DRYRUN_DIR',
  'upgrade node': 'KUBEADM_UPGRADE_DRYRUN_DIR',
}

/** kubeadm's own variable: the files of a dry run to look at. Without it they are only printed. */
async function writeDryRun(command: CommandName, { plan }: NodeResult, io: Io): Promise<void> {
  const directory = io.env[dryRunVariable[command] ?? '']
  if (directory === undefined || directory === '') return
  const files = createFiles()
  for (const { path, text } of plan.writes)
    if (text !== undefined) await files.replace(join(directory, basename(path)), text)
}
