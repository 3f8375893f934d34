// KEP-4033 against a runtime that answers RuntimeConfig: containerd 2.x in a machine of each driver, and in the third
// situation that users meet, cgroupfs in containerd on a host that runs systemd.
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { cacheDirectory } from '../../src/lab/cache.js'
import { ensureImages } from '../../src/lab/images/images.js'
import type { MachineName } from '../../src/lab/machine.js'
import { needsOf } from '../../src/lab/packages.js'
import { exitCodeOf, labRequest, runLab } from '../../src/lab/run-machine.js'
import { bundleChecks } from '../../test/support/bundle-checks.js'
import { type CheckResult, resultsFile } from '../../test/support/check.js'
import { missingRequirement } from '../../test/support/requirements.js'
import type { PeerName } from '../peers/catalogue.js'
import type { Unit, UnitContext } from '../unit.js'

interface Situation {
  readonly name: string
  readonly machine: MachineName
  readonly driver: 'cgroupfs' | 'systemd'
}

const situations: readonly Situation[] = [
  { name: 'UML, cgroupfs', machine: 'uml', driver: 'cgroupfs' },
  { name: 'UML with systemd, SystemdCgroup = true', machine: 'uml-systemd', driver: 'systemd' },
  { name: 'UML with systemd, SystemdCgroup = false', machine: 'uml-systemd', driver: 'cgroupfs' },
]

const peers: readonly PeerName[] = ['containerd', 'containerd-shim-runc-v2', 'ctr', 'crictl']
const TIMEOUT_S = 600
const KEEP_OUTPUT = 6_000

/** $LAB_OUT is the one directory that every machine shows at the same path: the peers go in through it. */
async function fillOut(context: UnitContext, out: string): Promise<void> {
  await mkdir(join(out, 'bin'), { recursive: true })
  for (const name of peers) await copyFile(context.peer(name), join(out, 'bin', name))
  const images = await ensureImages(cacheDirectory(process.env), AbortSignal.timeout(120_000))
  await copyFile(images, join(out, 'images.tar'))
  await bundleChecks(new URL('../driver/inside.ts', import.meta.url), join(out, 'checks.mjs'))
}

async function runSituation(context: UnitContext, situation: Situation): Promise<void> {
  const out = join(context.directory, situation.name.replaceAll(/\W+/g, '-'))
  await fillOut(context, out)
  await writeFile(join(out, resultsFile), '')
  let output = ''
  const sink = new PassThrough().on('data', (data: Buffer) => {
    output = (output + data.toString()).slice(-KEEP_OUTPUT)
  })
  const path = `${join(out, 'bin')}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`
  const outcome = await runLab(
    labRequest({
      machine: situation.machine,
      argv: [process.execPath, join(out, 'checks.mjs')],
      out,
      timeoutS: TIMEOUT_S,
      env: { RUNTIME_DRIVER: situation.driver, PATH: path },
    }),
    { stdout: sink, stderr: sink },
  )
  const lines = (await readFile(join(out, resultsFile), 'utf8')).split('\n').filter((l) => l !== '')
  for (const result of lines.map((l) => JSON.parse(l) as CheckResult))
    await context.check(`${situation.name}: ${result.name}`, async () => {
      if (!result.ok) throw new Error(`${result.error ?? 'failed'}\n${output}`)
      if (result.values !== undefined) context.note(JSON.stringify(result.values))
    })
  await context.check(`${situation.name}: every check ran`, async () => {
    const { checks } = await import('../driver/inside.js')
    if (lines.length === checks.length) return
    const log = await readFile(join(out, 'containerd.log'), 'utf8').catch(() => '')
    throw new Error(
      `${lines.length} of ${checks.length}; the machine ended with ${exitCodeOf(outcome)}\n${output}\n${log.slice(-2_000)}`,
    )
  })
}

export const driver: Unit = {
  name: 'driver',
  summary: 'containerd 2.x tells its cgroup driver, Keelson follows, and a sandbox proves it (KEP-4033)',
  peers,
  async run(context) {
    for (const situation of situations) {
      const missing = missingRequirement({ root: true, packages: needsOf(situation.machine, true) })
      if (missing === undefined) await runSituation(context, situation)
      else context.skip(situation.name, missing)
    }
  },
}
