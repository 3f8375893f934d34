// npm run conformance [-- NAME...]: compares Keelson with real peers, unit by unit, and ends in counts.
// `--list` names the units; `--build` only fills the cache of peers, all of them when no unit is named; `--only=TEXT` runs the checks whose names have it.
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildPeer, GoMissing } from './peers/build.js'
import { type PeerName, peerNames } from './peers/catalogue.js'
import {
  type CheckResult,
  formatCounts,
  type OptionValues,
  type Unit,
  type UnitContext,
  UsageError,
} from './unit.js'
import { units } from './units/index.js'

const mayNotSkip = process.env.CI === 'true'
const say = (line: string) => process.stdout.write(`${line}\n`)
const results: CheckResult[] = []

function record(result: CheckResult): void {
  results.push(result)
  const mark = { passed: 'ok  ', failed: 'FAIL', skipped: 'skip' }[result.outcome]
  say(
    `${mark} ${result.unit}: ${result.check}${result.reason === undefined ? '' : `\n     ${result.reason}`}`,
  )
}

function skip(unit: string, check: string, reason: string): void {
  record({ unit, check, outcome: mayNotSkip ? 'failed' : 'skipped', reason })
}

interface RunOptions {
  readonly buildOnly: boolean
  readonly only: string
  readonly options: OptionValues
}

const endings = ['SIGINT', 'SIGTERM'] as const
const endAtOnce = (): void => process.exit(130)

const untilStopped = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of endings) process.removeListener(signal, endAtOnce).once(signal, () => resolve())
  })

const reasonOf = (e: unknown): string =>
  (e instanceof Error ? e.message : String(e)).trim().replaceAll('\n', '\n     ')

async function runUnit(unit: Unit, { buildOnly, only, options }: RunOptions): Promise<void> {
  const missing = buildOnly ? undefined : unit.missing?.()
  if (missing !== undefined) {
    skip(unit.name, 'runs here', missing)
    return
  }
  const built = new Map<PeerName, string>()
  for (const name of unit.peers) {
    try {
      built.set(name, await buildPeer(name, say))
    } catch (e) {
      if (e instanceof GoMissing) skip(unit.name, 'build the peers', e.message)
      else record({ unit: unit.name, check: `build ${name}`, outcome: 'failed', reason: reasonOf(e) })
      return
    }
  }
  if (buildOnly) {
    for (const [name, path] of built) say(`${name}: ${path}`)
    return
  }
  const directory = await mkdtemp(join(tmpdir(), `keelson-conformance-${unit.name}-`))
  const removeDirectory = () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  process.once('exit', removeDirectory) // also when the run is stopped by a signal
  const cleanups: (() => Promise<void>)[] = []
  const context: UnitContext = {
    options,
    directory,
    peer(name) {
      const path = built.get(name)
      if (path === undefined) throw new Error(`unit ${unit.name} does not list the peer ${name}`)
      return path
    },
    async check(check, body) {
      if (!check.includes(only)) return true
      try {
        await body()
        record({ unit: unit.name, check, outcome: 'passed' })
        return true
      } catch (e) {
        record({ unit: unit.name, check, outcome: 'failed', reason: reasonOf(e) })
        return false
      }
    },
    skip: (check, reason) => skip(unit.name, check, reason),
    note: (line) => say(`     ${line}`),
    untilStopped,
    defer: (cleanup) => void cleanups.push(cleanup),
  }
  try {
    await unit.run(context)
  } catch (e) {
    record({ unit: unit.name, check: 'runs to its end', outcome: 'failed', reason: reasonOf(e) })
  } finally {
    for (const cleanup of cleanups.reverse())
      await cleanup().catch((e: unknown) => say(`     clean-up: ${reasonOf(e)}`))
    process.removeListener('exit', removeDirectory)
    removeDirectory()
  }
}

/** One peer that cannot be built does not stop the others; a second call goes on where this one ended. */
async function buildEveryPeer(): Promise<number> {
  const started = Date.now()
  let failed = 0
  for (const name of peerNames) {
    try {
      say(`${name}: ${await buildPeer(name, say)}`)
    } catch (e) {
      failed++
      say(`FAIL ${name}: ${reasonOf(e)}`)
      if (e instanceof GoMissing) break
    }
  }
  say(
    `${peerNames.length - failed} of ${peerNames.length} peers in ${Math.round((Date.now() - started) / 1000)} s`,
  )
  return failed === 0 ? 0 : 1
}

const common = {
  list: { type: 'boolean' },
  build: { type: 'boolean' },
  only: { type: 'string' },
} as const

const unitOptions = (of: readonly Unit[]): Record<string, { type: 'string' | 'boolean' }> =>
  Object.fromEntries(of.flatMap((u) => Object.entries(u.options ?? {}).map(([k, { type }]) => [k, { type }])))

async function parseCommandLine(
  args: readonly string[],
): Promise<{ chosen: readonly Unit[]; values: OptionValues }> {
  const parse = (options: Record<string, { type: 'string' | 'boolean' }>) =>
    parseArgs({ args: [...args], allowPositionals: true, options: { ...common, ...options } })
  try {
    const { positionals: names } = parse(unitOptions(units))
    const unknown = names.filter((n) => !units.some((u) => u.name === n))
    if (unknown.length > 0)
      throw new UsageError(
        `unknown unit ${unknown.join(', ')}; known: ${units.map((u) => u.name).join(', ')}`,
      )
    const chosen = units.filter((u) => (names.length === 0 ? u.onlyByName !== true : names.includes(u.name)))
    const { values } = parse(unitOptions(chosen)) // a flag of a unit that does not run is a mistake
    for (const unit of chosen) await unit.checkOptions?.(values)
    return { chosen, values }
  } catch (e) {
    // parseArgs, about the arguments; its second sentence is about positional arguments, of which there are none such.
    if (e instanceof TypeError) throw new UsageError(e.message.split('. ')[0])
    throw e
  }
}

function listUnits(): void {
  for (const unit of units) {
    say(`${unit.name.padEnd(14)} ${unit.summary}${unit.onlyByName === true ? ' (only when named)' : ''}`)
    for (const [name, { type, summary }] of Object.entries(unit.options ?? {}))
      say(`${' '.repeat(14)}   --${name}${type === 'string' ? ' VALUE' : ''}: ${summary}`)
  }
}

async function main(args: readonly string[]): Promise<number> {
  const { chosen, values } = await parseCommandLine(args)
  if (values.list === true) {
    listUnits()
    return 0
  }
  const buildOnly = values.build === true
  if (buildOnly && args.every((a) => a.startsWith('--'))) return await buildEveryPeer()
  for (const unit of chosen) {
    say(`# ${unit.name}: ${unit.summary}`)
    await runUnit(unit, { buildOnly, only: String(values.only ?? ''), options: values })
  }
  const failed = results.some((r) => r.outcome === 'failed')
  if (!buildOnly) say(formatCounts(results))
  return failed ? 1 : 0
}

// A stopped run still ends its daemons: their handlers sit on the exit of this process.
for (const signal of endings) process.once(signal, endAtOnce)

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (e) {
  if (!(e instanceof UsageError)) throw e
  say(e.message)
  process.exitCode = 2
}
