// npm run conformance [-- NAME...]: compares Keelson with real peers, unit by unit, and ends in counts.
// `--list` names the units; `--build` only fills the cache of peers, all of them when no unit is named; `--only=TEXT` runs the checks whose names have it.
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildPeer, GoMissing } from './peers/build.js'
import { type PeerName, peerNames } from './peers/catalogue.js'
import { type CheckResult, formatCounts, type Unit, type UnitContext } from './unit.js'
import { units } from './units/index.js'

const mayNotSkip = process.env.CI === 'true'
const say = (line: string) => process.stdout.write(`${line}\n`)
const only = process.argv.find((a) => a.startsWith('--only='))?.slice('--only='.length) ?? ''
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

const reasonOf = (e: unknown): string =>
  (e instanceof Error ? e.message : String(e)).trim().replaceAll('\n', '\n     ')

async function runUnit(unit: Unit, buildOnly: boolean): Promise<void> {
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

async function main(args: readonly string[]): Promise<number> {
  const names = args.filter((a) => !a.startsWith('--'))
  const unknown = names.filter((n) => !units.some((u) => u.name === n))
  if (unknown.length > 0) {
    say(`unknown unit ${unknown.join(', ')}; known: ${units.map((u) => u.name).join(', ')}`)
    return 2
  }
  const chosen = names.length === 0 ? units : units.filter((u) => names.includes(u.name))
  if (args.includes('--list')) {
    for (const unit of chosen) say(`${unit.name.padEnd(12)} ${unit.summary}`)
    return 0
  }
  if (args.includes('--build') && names.length === 0) return await buildEveryPeer()
  for (const unit of chosen) {
    say(`# ${unit.name}: ${unit.summary}`)
    await runUnit(unit, args.includes('--build'))
  }
  const failed = results.some((r) => r.outcome === 'failed')
  if (!args.includes('--build')) say(formatCounts(results))
  return failed ? 1 : 0
}

// A stopped run still ends its daemons: their handlers sit on the exit of this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

process.exitCode = await main(process.argv.slice(2))
