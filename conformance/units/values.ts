// The values of each runtime beside the kernel's, through `keelson cri`: passed on, every difference is a known defect;
// repaired, there is none.
import { join } from 'node:path'
import { needsOf } from '../../src/lab/packages.js'
import { missingRequirement } from '../../test/support/requirements.js'
import { missingFor } from '../matrix/environment.js'
import { runAsChecks } from '../matrix/run-checks.js'
import { type Place, places, runtimes } from '../node-environment/plan.js'
import { insideKeelson, peersOf } from '../node-environment/programs.js'
import { type Unit, UsageError } from '../unit.js'
import type { ValuesPlan } from '../values/inside.js'

const timeoutMs = 8 * 60_000

export const values: Unit = {
  name: 'values',
  summary: "each runtime's values beside the kernel's, passed on and repaired by keelson cri (doctor parity)",
  onlyByName: true,
  peers: Object.values(peersOf).flat(),
  options: {
    runtime: { type: 'string', summary: `one of ${runtimes.join(', ')}; default: all` },
    place: { type: 'string', summary: `one of ${places.join(', ')}; default: host` },
    keep: { type: 'string', summary: 'directory for the logs' },
  },
  checkOptions({ runtime, place }) {
    for (const [name, value, known] of [
      ['runtime', runtime, runtimes],
      ['place', place, places],
    ] as const)
      if (value !== undefined && !(known as readonly string[]).includes(String(value)))
        throw new UsageError(`--${name} ${String(value)}: use one of ${known.join(', ')}`)
  },
  async run(context) {
    const place = (context.options.place ?? 'host') as Place
    for (const runtime of runtimes) {
      if (context.options.runtime !== undefined && context.options.runtime !== runtime) continue
      const packages = place === 'host' ? (['containerd'] as const) : needsOf(place, true)
      const missing = missingRequirement({ root: true, packages }) ?? missingFor(runtime)
      if (missing !== undefined) {
        context.skip(runtime, missing)
        continue
      }
      const argument: ValuesPlan = { keelson: insideKeelson, runtime, place }
      const program = join(import.meta.dirname, '../values/inside.ts')
      await runAsChecks(context, `${runtime}, ${place}`, { place, runtime, program, argument, timeoutMs })
    }
  },
}
