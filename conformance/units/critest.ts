// The CRI project's own validation suite against Debian's containerd, directly and through `keelson cri`: whatever passes
// directly must pass through the server. All of it on this machine; in two kernels with cgroup v2 what concerns cgroups.
import { copyFile, cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { cacheDirectory } from '../../src/lab/cache.js'
import { ensureImages } from '../../src/lab/images/images.js'
import { needsOf } from '../../src/lab/packages.js'
import { exitCodeOf, labRequest, runLab } from '../../src/lab/run-machine.js'
import { bundleChecks } from '../../test/support/bundle-checks.js'
import { type CheckResult, resultsFile } from '../../test/support/check.js'
import { bundleCommand } from '../../test/support/command.js'
import { missingRequirement } from '../../test/support/requirements.js'
import { cannotRunAt, leastPassed, type Place } from '../critest/cannot-run.js'
import { compareRuns, formatRun } from '../critest/compare.js'
import { prepareGround } from '../critest/ground.js'
import { writeImagePrograms } from '../critest/image-programs.js'
import { parseReport, type Spec, suiteFailures } from '../critest/report.js'
import { type ReportName, scenario } from '../critest/scenario.js'
import { readSegments, removeLeftSegments } from '../critest/shared-memory.js'
import type { PeerName } from '../peers/catalogue.js'
import type { Unit, UnitContext } from '../unit.js'

const peers: readonly PeerName[] = ['crictl', 'critest']
const CRITEST_TIMEOUT_MS = 20 * 60_000
const BED_TIMEOUT_S = 50 * 60
const KEEP_OUTPUT = 6_000

/** For a closer look: a newer critest than the pinned one, a part of its specs, one of the places. */
const ownCritest = process.env.CRITEST_BINARY
const ownFocus = process.env.CRITEST_FOCUS
const onlyPlace = process.env.CRITEST_PLACE

/** Which specs run where: a kernel without hardware's speed gets those in which its cgroups have a part. */
const focusOf: Readonly<Record<Place, string | undefined>> = {
  host: ownFocus,
  uml:
    ownFocus ?? 'Container runtime should support basic operations|Container OOM|PodSandbox runtime should',
  qemu: ownFocus ?? (ownCritest === undefined ? 'none' : 'metrics'),
}

async function readSpecs(out: string, name: ReportName): Promise<Spec[]> {
  const text = await readFile(join(out, `${name}.json`), 'utf8')
  const failures = suiteFailures(text)
  if (failures.length > 0) throw new Error(`critest could not begin: ${failures.join('; ')}`)
  return parseReport(text)
}

/** The verdict over both reports; with a focus or another critest there is no list to hold it against. */
async function judge(context: UnitContext, place: Place, out: string): Promise<void> {
  const isWhole = ownCritest === undefined && ownFocus === undefined
  let direct: readonly Spec[] = []
  let through: readonly Spec[] = []
  const read = await context.check(`${place}: both runs of critest have a report`, async () => {
    direct = await readSpecs(out, 'direct')
    through = await readSpecs(out, 'through')
  })
  if (!read) return
  const result = compareRuns(direct, through, cannotRunAt(place))
  context.note(`directly: ${formatRun(result.direct)}; through keelson cri: ${formatRun(result.through)}`)
  for (const [way, specs] of Object.entries({ directly: direct, 'through keelson cri': through }))
    for (const { name, outcome, attempts } of specs)
      if (attempts !== undefined) context.note(`${way}: ${outcome} at attempt ${attempts}: ${name}`)
  for (const name of result.gained) context.note(`passes only through the server: ${name}`)
  await context.check(`${place}: nothing that passes directly fails through the server`, async () => {
    if (result.lost.length > 0)
      throw new Error(result.lost.map((l) => `${l.name}: ${l.through}: ${l.message}`).join('\n'))
  })
  if (!isWhole) return
  await context.check(`${place}: at least ${leastPassed[place]} specs pass directly`, async () => {
    if (result.direct.passed < leastPassed[place]) throw new Error(`${result.direct.passed} passed`)
  })
  await context.check(`${place}: what does not pass directly is what the page lists`, async () => {
    const lines = [
      ...result.unexplained.map((s) => `not listed: ${s.name}: ${s.outcome}: ${s.message ?? ''}`),
      ...result.stale.map((name) => `listed, but passes or is gone: ${name}`),
    ]
    if (lines.length > 0) throw new Error(lines.join('\n'))
  })
}

const labImages = async (): Promise<string> =>
  await ensureImages(cacheDirectory(process.env), AbortSignal.timeout(120_000))

async function runOnHost(context: UnitContext): Promise<void> {
  const out = join(context.directory, 'host')
  const tmp = join(out, 'tmp')
  await mkdir(tmp, { recursive: true })
  const segments = await readSegments()
  context.defer(() => removeLeftSegments(segments))
  const bundle = await bundleCommand()
  context.defer(() => bundle.remove())
  const images = await labImages()
  const programs = join(out, 'bin')
  await writeImagePrograms(programs)
  const checks = scenario({
    critest: { binary: ownCritest ?? context.peer('critest'), focus: focusOf.host },
    crictl: context.peer('crictl'),
    out,
    tmp,
    allMetrics: false,
    critestTimeoutMs: CRITEST_TIMEOUT_MS,
    async prepare() {
      const ground = await prepareGround({
        main: bundle.main,
        programs,
        dir: out,
        containerd: { archives: [images], log: join(out, 'containerd.log') },
      })
      context.defer(() => ground.close())
      return ground
    },
  })
  for (const check of checks)
    await context.check(`host: ${check.name}`, async () => {
      const values: unknown = await check.run()
      if (values !== undefined) context.note(JSON.stringify(values))
    })
  await judge(context, 'host', out)
}

async function fillOut(context: UnitContext, out: string): Promise<void> {
  await mkdir(join(out, 'bin'), { recursive: true })
  await copyFile(ownCritest ?? context.peer('critest'), join(out, 'bin/critest'))
  await copyFile(context.peer('crictl'), join(out, 'bin/crictl'))
  await writeImagePrograms(join(out, 'bin'))
  await copyFile(await labImages(), join(out, 'images.tar'))
  const bundle = await bundleCommand()
  await cp(join(bundle.main, '..'), join(out, 'keelson'), { recursive: true })
  await bundle.remove()
  await bundleChecks(new URL('../critest/inside.ts', import.meta.url), join(out, 'checks.mjs'))
  await writeFile(join(out, resultsFile), '')
}

async function runInMachine(context: UnitContext, place: 'uml' | 'qemu'): Promise<void> {
  const out = join(context.directory, place)
  const focus = focusOf[place]
  await fillOut(context, out)
  let output = ''
  const sink = new PassThrough().on('data', (data: Buffer) => {
    output = (output + data.toString()).slice(-KEEP_OUTPUT)
  })
  const outcome = await runLab(
    labRequest({
      machine: place,
      argv: [process.execPath, join(out, 'checks.mjs')],
      out,
      timeoutS: BED_TIMEOUT_S,
      memoryMiB: 2048,
      env: {
        CRITEST_TIMEOUT_MS: String(CRITEST_TIMEOUT_MS),
        ...(focus === undefined ? {} : { CRITEST_FOCUS: focus }),
      },
    }),
    { stdout: sink, stderr: sink },
  )
  const lines = (await readFile(join(out, resultsFile), 'utf8')).split('\n').filter((l) => l !== '')
  for (const result of lines.map((l) => JSON.parse(l) as CheckResult))
    await context.check(`${place}: ${result.name}`, async () => {
      if (!result.ok) throw new Error(`${result.error ?? 'failed'}\n${output}`)
      if (result.values !== undefined) context.note(JSON.stringify(result.values))
    })
  await context.check(`${place}: the machine ran to its end`, async () => {
    const log = await readFile(join(out, 'containerd.log'), 'utf8').catch(() => '')
    if (outcome.kind !== 'exit')
      throw new Error(`it ended with ${exitCodeOf(outcome)}\n${output}\n${log.slice(-2_000)}`)
  })
  if (focus !== 'none') await judge(context, place, out)
}

export const critest: Unit = {
  name: 'critest',
  summary:
    'what passes of the CRI validation suite on containerd passes through keelson cri; crictl sees the same',
  peers,
  async run(context) {
    for (const { place, packages } of [
      { place: 'host', packages: ['containerd', 'images'] },
      { place: 'uml', packages: needsOf('uml', true) },
      { place: 'qemu', packages: needsOf('qemu', true) },
    ] as const) {
      if (onlyPlace !== undefined && onlyPlace !== place) continue
      const missing = missingRequirement({ root: true, packages })
      if (missing === undefined) await (place === 'host' ? runOnHost(context) : runInMachine(context, place))
      else context.skip(`${place}: critest`, missing)
    }
  },
}
