// The parts of the lab in shards that take about the same time, from durations that were measured before, and the total of
// shards that were run one by one.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Of a part that was never measured. */
const unknownSeconds = 90

/** `2/3` -> { shard: 2, of: 3 }; undefined: it is no such thing. */
export function parseShard(text) {
  const [, shard, of] = /^([1-9]\d?)\/([1-9]\d?)$/.exec(text ?? '')?.map(Number) ?? []
  return shard === undefined || shard > of ? undefined : { shard, of }
}

/** The longest first, each to the shard that has least to do. The same parts give the same shards. */
export function splitParts(parts, seconds, count) {
  const shards = Array.from({ length: count }, () => ({ parts: [], seconds: 0 }))
  const timed = parts.map((part) => ({ part, seconds: seconds[part] ?? unknownSeconds }))
  for (const { part, seconds } of timed.sort((a, b) => b.seconds - a.seconds || (a.part < b.part ? -1 : 1))) {
    const least = shards.reduce((a, b) => (b.seconds < a.seconds ? b : a))
    least.parts.push(part)
    least.seconds += seconds
  }
  return shards.map((s) => ({ ...s, parts: s.parts.sort() }))
}

const fileOf = (folder, { shard, of }) => join(folder, `${shard}-of-${of}.json`)

/** Keeps the counts of one shard, so that the last one can give the total. `commit` tells runs of other code apart. */
export function keepCounts(folder, shard, commit, counts) {
  mkdirSync(folder, { recursive: true })
  writeFileSync(fileOf(folder, shard), `${JSON.stringify({ commit, ...counts })}\n`)
}

/** One line: the counts of all shards of this commit, or which of them were not run yet. */
export function totalOf(folder, { of }, commit) {
  const total = { passed: 0, failed: 0, skipped: 0 }
  const missing = []
  for (let shard = 1; shard <= of; shard++) {
    const name = `${shard}-of-${of}.json`
    const kept = readdirSync(folder).includes(name)
      ? JSON.parse(readFileSync(join(folder, name), 'utf8'))
      : undefined
    if (kept?.commit === commit) for (const key of Object.keys(total)) total[key] += kept[key]
    else missing.push(`${shard}/${of}`)
  }
  const counts = `${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`
  return missing.length > 0
    ? `so far ${counts}; still to run: --shard ${missing.join(', --shard ')}`
    : `all ${of} shards: ${counts}`
}
