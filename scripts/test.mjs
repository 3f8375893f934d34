// `npm test`: installs what the tests need (root on Debian), then types, format, lint, promises and the unit tier.
// Ends with the counts of the unit tier. Arguments go to vitest: `npm test -- src/core`.
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureDebianPackages } from './debian.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const bin = (name) => join(root, 'node_modules/.bin', name)
const steps = [
  ['build', process.execPath, ['scripts/build.mjs']],
  ['types', bin('tsc'), ['-p', '.']],
  ['types of the dashboard', bin('tsc'), ['-p', 'src/dashboard']],
  ['format and lint', bin('biome'), ['check', '--error-on-warnings', '.']],
  ['promises', bin('oxlint'), ['--type-aware']],
  ['tests', bin('vitest'), ['run', '--project', 'unit', ...process.argv.slice(2)]],
]

ensureDebianPackages()
for (const [name, command, args] of steps) {
  const started = performance.now()
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  if (status !== 0) {
    console.error(`npm test: ${name} failed${error ? `: ${error.message}` : ''}`)
    process.exit(1)
  }
  if (name !== 'tests') console.log(`${name}: ok, ${((performance.now() - started) / 1000).toFixed(1)} s`)
}
