// `npm run test:lab [-- PART...]`: the scenarios in the machines and on the host. A part is the beginning of names (`up` is
// also `up-host`), or any piece of them when none begins with it. `--list` names them, `--slice ci` takes the fixed ones
// that continuous integration has time for, `-t PATTERN` only tests whose name has it.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureDebianPackages } from './debian.mjs'

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

const args = process.argv.slice(2)
if (args.includes('--list')) {
  for (const file of files) console.log(name(file))
  for (const [slice, parts] of Object.entries(slices)) console.log(`--slice ${slice}: ${parts.join(' ')}`)
  process.exit(0)
}
const at = args.indexOf('--slice')
const slice = at < 0 ? undefined : slices[args[at + 1]]
if (at >= 0 && slice === undefined) {
  console.error(`test:lab: no slice ${args[at + 1] ?? ''}; there is: ${Object.keys(slices).join(', ')}`)
  process.exit(2)
}
const others = at < 0 ? args : args.toSpliced(at, 2)
// Its value is a word like a part's name: taken out first.
const filterAt = others.indexOf('-t')
const filter = filterAt < 0 ? [] : others.slice(filterAt, filterAt + 2)
if (filter.length === 1) {
  console.error('test:lab: -t needs a pattern')
  process.exit(2)
}
const rest = filterAt < 0 ? others : others.toSpliced(filterAt, 2)
const parts = rest.filter((a) => !a.startsWith('-'))
const beginsWith = (file, part) => name(file) === part || name(file).startsWith(`${part}-`)
const isMeant = (file, part) =>
  files.some((f) => beginsWith(f, part)) ? beginsWith(file, part) : name(file).includes(part)
const chosen = files.filter((f) =>
  slice !== undefined ? slice.includes(name(f)) : parts.length === 0 || parts.some((p) => isMeant(f, p)),
)
if (chosen.length === 0) {
  console.error(`test:lab: nothing is called ${parts.join(' or ')}; see --list`)
  process.exit(2)
}
ensureDebianPackages()
const { status } = spawnSync(
  join(root, 'node_modules/.bin/vitest'),
  [
    'run',
    '--project',
    'lab',
    ...filter,
    ...rest.filter((a) => a.startsWith('-')),
    ...chosen.map((f) => join('test/lab', f)),
  ],
  { cwd: root, stdio: 'inherit' },
)
process.exit(status ?? 1)
