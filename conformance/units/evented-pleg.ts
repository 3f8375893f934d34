// The upstream kubelet with EventedPLEG on containerd 1.6, which has no events, through `keelson cri`.
import { join } from 'node:path'
import { missingRequirement } from '../../test/support/requirements.js'
import type { EventedPlan } from '../evented-pleg/inside.js'
import { runAsChecks } from '../matrix/run-checks.js'
import { inCache, insideKeelson } from '../node-environment/programs.js'
import { type Unit, UsageError } from '../unit.js'

const perPod = 20
const podsAtOnce = 5
const timeoutMs = 40 * 60_000

export const eventedPleg: Unit = {
  name: 'evented-pleg',
  summary:
    'the upstream kubelet takes container events of containerd 1.6 from keelson cri: none lost, none too early',
  onlyByName: true,
  peers: ['kubelet'],
  options: {
    containers: { type: 'string', summary: 'how many start and end (default 1000)' },
    keep: { type: 'string', summary: 'directory for the logs' },
  },
  checkOptions({ containers }) {
    if (containers !== undefined && !(Number(containers) >= 1))
      throw new UsageError(`--containers ${String(containers)}: use a number`)
  },
  missing: () => missingRequirement({ root: true, packages: ['containerd'] }),
  async run(context) {
    const cell = {
      client: 'upstream kubelet',
      runtime: 'containerd-1.6',
      way: 'keelson cri',
      place: 'host',
      programs: {
        kubelet: inCache(context.peer('kubelet')),
        keelson: insideKeelson,
        crictl: '',
        critest: '',
      },
    } as const
    const containers = Number(context.options.containers ?? 1000)
    const argument: EventedPlan = { cell, containers, perPod, podsAtOnce }
    const program = join(import.meta.dirname, '../evented-pleg/inside.ts')
    const { place, runtime } = cell
    await runAsChecks(context, 'containerd-1.6', { place, runtime, program, argument, timeoutMs })
  },
}
