// `npm run bench` lists the benchmarks, `npm run bench -- NAME...` (or `all`) runs them. Ends in counts of targets met and
// missed; status 1 when one was missed. `--results DIR` puts the pages elsewhere; in a lab machine they go to $LAB_OUT.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { apiRequests } from './api-requests/unit.js'
import { binding } from './binding/unit.js'
import { cgroupSweep } from './cgroup-sweep/unit.js'
import { cri } from './cri/unit.js'
import { eviction } from './eviction/unit.js'
import { kubelet } from './kubelet/unit.js'
import { memoryPressure } from './memory-pressure/unit.js'
import { memoryQosPass } from './memory-qos-pass/unit.js'
import { memoryQosStart } from './memory-qos-start/unit.js'
import { pods } from './pods/unit.js'
import { probes } from './probes/unit.js'
import { formatReport } from './report.js'
import { scrape } from './scrape/unit.js'
import { soakUnit } from './soak/unit.js'
import { startup } from './startup/unit.js'
import type { BenchOptions, BenchUnit } from './unit.js'
import { volumes } from './volumes/unit.js'

const units: readonly BenchUnit[] = [
  cgroupSweep,
  cri,
  probes,
  scrape,
  startup,
  memoryPressure,
  eviction,
  memoryQosPass,
  memoryQosStart,
  pods,
  kubelet,
  soakUnit,
  apiRequests,
  binding,
  volumes,
]

const unitOptions = units.flatMap((unit) => Object.keys(unit.options ?? {}))
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    results: { type: 'string', default: process.env.LAB_OUT ?? resolve(import.meta.dirname, 'results') },
    ...Object.fromEntries(unitOptions.map((name) => [name, { type: 'string' as const }])),
  },
})
/** Not that of the results: where a page goes does not change it. */
const given: BenchOptions = Object.fromEntries(
  Object.entries(values).filter(([name]) => unitOptions.includes(name)),
)

if (positionals.length === 0) {
  console.log('usage: npm run bench -- NAME... | all\n')
  for (const { name, summary, options = {} } of units) {
    console.log(`  ${name.padEnd(16)} ${summary}`)
    for (const [option, use] of Object.entries(options)) console.log(`${' '.repeat(19)}--${option} ${use}`)
  }
  process.exit(0)
}

/** As one would type it to get the same page again. */
const commandFor = ({ name, options = {} }: BenchUnit): string => {
  const machine = process.env.LAB_BED
  const own = Object.keys(options).filter((option) => given[option] !== undefined)
  const bench = [`npm run bench -- ${name}`, ...own.map((option) => `--${option} ${given[option]}`)].join(' ')
  return machine === undefined || machine === 'host'
    ? bench
    : `keelson lab run --machine ${machine} --memory 3072 --out DIR -- ${bench}`
}

const chosen = positionals.includes('all') ? units : units.filter((unit) => positionals.includes(unit.name))
const unknown = positionals.filter((name) => name !== 'all' && !units.some((unit) => unit.name === name))
if (unknown.length > 0) {
  console.error(
    `no benchmark called ${unknown.join(', ')}; there are ${units.map((unit) => unit.name).join(', ')}`,
  )
  process.exit(2)
}

const stop = new AbortController()
process.once('SIGINT', () => stop.abort(new Error('interrupted')))
process.once('SIGTERM', () => stop.abort(new Error('terminated')))

let passed = 0
let failed = 0
for (const unit of chosen) {
  try {
    const report = await unit.run(stop.signal, given)
    const page = formatReport(report, report.command ?? commandFor(unit))
    console.log(page)
    mkdirSync(values.results, { recursive: true })
    writeFileSync(join(values.results, `${report.file}.md`), page)
    passed += report.targets.filter((target) => target.met).length
    failed += report.targets.filter((target) => !target.met).length
  } catch (error) {
    failed++
    console.error(`${unit.name}: ${error instanceof Error ? error.message : String(error)}`)
  }
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
