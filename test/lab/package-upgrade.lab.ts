// From 0.1.0 to this version and back, on a node with running pods. 0.1.0 is built from the history of this repository, once.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { root } from '../../scripts/package/release.js'
import { cacheDirectory, ensurePart } from '../../src/lab/cache.js'
import { needsOf } from '../../src/lab/packages.js'
import { mustRun } from '../../src/lab/process.js'
import { labChecks } from '../support/lab-checks.js'
import { buildCommandLine, commandFile, removeCommandLine } from '../support/lab-command.js'
import { missingRequirement } from '../support/requirements.js'

/** The last commit of 0.1.0. */
const commit = '95514b63d584113ae793b5cff54ff0780b4a0c7d'

const old = {
  name: 'keelson-0.1.0',
  recipe: { commit, format: 1 },
  async build(dir: string, signal: AbortSignal): Promise<void> {
    const work = join(dir, 'work')
    mkdirSync(work)
    const source = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 256 * 1024 * 1024 })
    execFileSync('tar', ['-xf', '-'], { cwd: work, input: source })
    await mustRun(['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: work, signal })
    await mustRun([process.execPath, 'scripts/build.mjs'], { cwd: work, signal })
    for (const name of ['dist', 'package.json'])
      cpSync(join(work, name), join(dir, name), { recursive: true })
    await rm(work, { recursive: true })
  },
}

const hasHistory = spawnSync('git', ['cat-file', '-e', commit], { cwd: root }).status === 0
if (!hasHistory && process.env.CI === 'true')
  throw new Error('CI is set, but the history of 0.1.0 is missing')
const isSkipped =
  !hasHistory || missingRequirement({ root: true, packages: needsOf('uml', true) }) !== undefined

const oldProgram = isSkipped
  ? ''
  : join(await ensurePart(cacheDirectory(process.env), old, AbortSignal.timeout(900_000)), 'dist/cli/main.js')
if (!isSkipped) await buildCommandLine()
afterAll(removeCommandLine)

if (hasHistory)
  await labChecks(
    'upgrade and downgrade in UML, cgroupfs',
    {
      place: 'uml',
      containerd: { systemdCgroup: false },
      env: { KEELSON_OLD: oldProgram, KEELSON_NEW: isSkipped ? '' : commandFile() },
      timeoutS: 3000,
    },
    new URL('./inside/package-upgrade.ts', import.meta.url),
  )
