// The parts of the lab in shards that take about the same time, from durations that were measured before, and the total of
// shards that were run one by one.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
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

/** The counts of all shards of this commit as one line, and the seconds of all parts once every shard was run. */
export function totalOf(folder, { of }, commit) {
  const total = { passed: 0, failed: 0, skipped: 0 }
  const missing = []
  let seconds = {}
  for (let shard = 1; shard <= of; shard++) {
    const file = fileOf(folder, { shard, of })
    const kept = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
    if (kept?.commit !== commit) {
      missing.push(`${shard}/${of}`)
      continue
    }
    for (const key of Object.keys(total)) total[key] += kept[key]
    seconds = { ...seconds, ...kept.seconds }
  }
  const counts = `${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`
  return missing.length > 0
    ? { text: `so far ${counts}; still to run: --shard ${missing.join(', --shard ')}` }
    : { text: `all ${of} shards: ${counts}`, seconds }
}
