// `npm run test:lab [-- PART...]`: the scenarios in the machines and on the host. A part is the beginning of names (`up` is
// also `up-host`), or any piece of them when none begins with it. `--list` names them with their measured seconds, `--slice ci`
// takes the fixed ones that continuous integration has time for, `--shard 2/3` the second of three parts that take about
// the same time, `-t PATTERN` only tests whose name has it. `--record` keeps the measured seconds in test/lab/seconds.json;
// with shards the last of them does.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureDebianPackages } from './debian.mjs'
import { keepCounts, parseShard, splitParts, totalOf } from './lab-shards.mjs'

const slices = {
  ci: [
    'cri-containerd',
    'systemd',
    'containerd-faults',
    'cgroup-contract',
    'kubelet-driver',
    'qemu-psi',
    'package-install',
  ],
}

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const suffix = '.lab.ts'
const files = readdirSync(join(root, 'test/lab'), { recursive: true })
  .filter((f) => f.endsWith(suffix))
  .sort()
const name = (file) => file.slice(0, -suffix.length)
const secondsFile = join(root, 'test/lab/seconds.json')
const measured = JSON.parse(readFileSync(secondsFile, 'utf8'))

function fail(message) {
  console.error(`test:lab: ${message}`)
  process.exit(2)
}

const args = process.argv.slice(2)
if (args.includes('--list')) {
  for (const file of files) console.log(`${name(file).padEnd(24)} ${measured[name(file)] ?? '?'} s`)
  for (const [slice, parts] of Object.entries(slices)) console.log(`--slice ${slice}: ${parts.join(' ')}`)
  process.exit(0)
}
/** Takes an option and its value, a word like a part's name, out of the arguments. */
function takeOption(option) {
  const at = args.indexOf(option)
  if (at < 0) return undefined
  const [, value] = args.splice(at, 2)
  return value ?? fail(`${option} needs a value`)
}
const takeFlag = (flag) => args.includes(flag) && args.splice(args.indexOf(flag), 1).length > 0

const sliceName = takeOption('--slice')
const slice = sliceName === undefined ? undefined : slices[sliceName]
if (sliceName !== undefined && slice === undefined)
  fail(`no slice ${sliceName}; there is: ${Object.keys(slices).join(', ')}`)
const shardText = takeOption('--shard')
const shard = parseShard(shardText)
if (shardText !== undefined && shard === undefined) fail(`--shard ${shardText}: write for example 1/3`)
const pattern = takeOption('-t')
const record = takeFlag('--record')

const parts = args.filter((a) => !a.startsWith('-'))
const beginsWith = (file, part) => name(file) === part || name(file).startsWith(`${part}-`)
const isMeant = (file, part) =>
  files.some((f) => beginsWith(f, part)) ? beginsWith(file, part) : name(file).includes(part)
const wanted = files.filter((f) =>
  slice !== undefined ? slice.includes(name(f)) : parts.length === 0 || parts.some((p) => isMeant(f, p)),
)
if (wanted.length === 0) fail(`nothing is called ${parts.join(' or ')}; see --list`)

const mine =
  shard === undefined ? undefined : splitParts(wanted.map(name), measured, shard.of)[shard.shard - 1]
const chosen = mine === undefined ? wanted : mine.parts.map((part) => `${part}${suffix}`)
if (mine !== undefined)
  console.log(
    `shard ${shard.shard}/${shard.of}, about ${Math.ceil(mine.seconds / 60)} minutes: ${mine.parts.join(' ')}`,
  )
if (chosen.length === 0) process.exit(0)

ensureDebianPackages()
const scratch = mkdtempSync(join(tmpdir(), 'keelson-test-lab-'))
const countsFile = join(scratch, 'counts.json')
const { status } = spawnSync(
  join(root, 'node_modules/.bin/vitest'),
  [
    'run',
    '--project',
    'lab',
    ...(pattern === undefined ? [] : ['-t', pattern]),
    ...args.filter((a) => a.startsWith('-')),
    ...chosen.map((f) => join('test/lab', f)),
  ],
  { cwd: root, stdio: 'inherit', env: { ...process.env, KEELSON_COUNTS: countsFile } },
)
const counts = existsSync(countsFile) ? JSON.parse(readFileSync(countsFile, 'utf8')) : undefined
rmSync(scratch, { recursive: true })
// It ended before it could count.
if (counts === undefined) process.exit(status || 1)

counts.seconds = Object.fromEntries(
  Object.entries(counts.seconds).map(([file, seconds]) => [name(basename(file)), seconds]),
)
const isWhole = slice === undefined && parts.length === 0 && pattern === undefined
// A few tests of a part say nothing about its time, and one shard alone would change which parts the next one has.
let seconds = shard === undefined && pattern === undefined ? counts.seconds : undefined
if (shard !== undefined && isWhole) {
  const folder = join(root, 'node_modules/.cache/keelson-test-lab')
  const commit = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).stdout ?? ''
  keepCounts(folder, shard, commit.trim(), counts)
  const total = totalOf(folder, shard, commit.trim())
  console.log(total.text)
  seconds = total.seconds
}
if (record && seconds !== undefined) {
  const all = Object.entries({ ...measured, ...seconds }).filter(([part]) =>
    files.includes(`${part}${suffix}`),
  )
  const sorted = Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)))
  writeFileSync(secondsFile, `${JSON.stringify(sorted, null, 2)}\n`)
}
process.exit(status ?? 1)
