// One run of e2e_node.test inside a node environment: the suite starts the kubelet that lies beside its binary.
import { cp, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SuiteImages } from '../images/ensure-images.js'
import { insideDirectory, type Place, type RuntimeName, runtimeSocket } from '../node-environment/plan.js'
import { inCache, type KubeletName, runtimePrograms, writeKubelet } from '../node-environment/programs.js'
import { startEnvironment } from '../node-environment/start.js'
import { startMachine } from '../node-environment/start-in-machine.js'
import { cacheRoot } from '../peers/build.js'
import type { PeerName } from '../peers/catalogue.js'
import { formatKubeletConfig } from './kubelet-config.js'
import { focusArguments, isStandalone, type ListedSpec } from './specs.js'

export interface SuiteRun {
  readonly kubelet: KubeletName
  readonly runtime: RuntimeName
  readonly place: Place
  readonly specs: readonly ListedSpec[]
  readonly procs: number
  readonly diskGiB?: number
  readonly images: SuiteImages
  peer(name: PeerName): string
  readonly onOutput: (text: string) => void
  readonly leftovers: readonly string[]
  readonly timeoutMs: number
  /** Where the logs of suite, kubelet and runtime are copied to. */
  readonly keep: string | undefined
}

/** The suite refuses kernels without cpusets, as UML's is, unless it is told what to look for. */
const umlSystemSpec = `os: Linux
kernelSpec:
  versions: ['6\\.']
`

const GRACE_MS = 5 * 60_000

function suiteArguments(run: SuiteRun): string[] {
  const out = join(insideDirectory, 'out')
  const standalone = run.specs.some(isStandalone)
  return [
    inCache(run.peer('ginkgo')),
    `--procs=${Math.min(run.procs, run.specs.length)}`,
    '--no-color',
    `--timeout=${Math.round(run.timeoutMs / 1000)}s`,
    '--json-report=report.json',
    `--output-dir=${out}`,
    ...focusArguments(run.specs),
    join(insideDirectory, 'bin/e2e_node.test'),
    '--',
    '--node-name=node',
    `--container-runtime-endpoint=unix://${runtimeSocket}`,
    `--report-dir=${out}`,
    // It would pull images of other suites that nobody here needs.
    '--prepull-images=false',
    `--kubelet-config-file=${join(insideDirectory, 'kubelet-config.yaml')}`,
    ...(standalone ? ['--standalone-mode=true'] : []),
    ...(run.place === 'uml' ? [`--system-spec-file=${join(insideDirectory, 'system-spec.yaml')}`] : []),
  ]
}

/** The text of ginkgo's report. */
export async function runSuite(run: SuiteRun): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'keelson-node-'))
  await writeKubelet(run.kubelet, { directory, peer: run.peer })
  // The suite takes the file `kubelet` beside its own binary.
  await symlink(inCache(run.peer('e2e-node')), join(directory, 'bin/e2e_node.test'))
  await writeFile(join(directory, 'kubelet-config.yaml'), formatKubeletConfig())
  await writeFile(join(directory, 'system-spec.yaml'), umlSystemSpec)
  const request = {
    directory,
    cache: cacheRoot(),
    runtime: run.runtime,
    programs: runtimePrograms(run.runtime, run.peer),
    imageLayout: inCache(run.images.layout),
    // Unpacking all of them takes minutes in the lab machine, and its few specs ask for two or three.
    ...(run.place === 'uml' ? {} : { imageArchive: inCache(run.images.archive) }),
    // Specs that restart the kubelet do so through systemd.
    systemdStandIns: run.specs.some((s) => s.labels.includes('Serial')),
    ...(run.diskGiB === undefined ? {} : { diskGiB: run.diskGiB }),
    logind: run.place === 'host' && run.specs.some((s) => s.labels.includes('Feature:GracefulNodeShutdown')),
    argv: suiteArguments(run),
    cwd: join(insideDirectory, 'out'),
    env: { HOME: '/root', TMPDIR: '/tmp' },
    onOutput: run.onOutput,
    leftovers: run.leftovers,
  }
  const environment =
    run.place === 'uml'
      ? await startMachine({ ...request, timeoutMs: run.timeoutMs + GRACE_MS })
      : await startEnvironment(request)
  // ginkgo ends itself at its own deadline and still writes its report; a run that hangs beyond that is killed.
  const timer = setTimeout(() => void environment.close().catch(() => {}), run.timeoutMs + GRACE_MS)
  try {
    const status = await environment.ended
    const out = join(directory, 'out')
    if (run.keep !== undefined) await cp(out, run.keep, { recursive: true })
    return await readFile(join(out, 'report.json'), 'utf8').catch(() => {
      throw new Error(`the suite ended with status ${status} and wrote no report`)
    })
  } finally {
    clearTimeout(timer)
    await environment.close()
  }
}
