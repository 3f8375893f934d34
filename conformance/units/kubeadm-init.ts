// `kubeadm init` with `keelson kubelet` as the kubelet: the control plane are static pods of kubeadm's own manifests, and the node
// joins it.
import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { forNode } from '../../scripts/bundling.mjs'
import { controlPlanePeers } from '../cluster/control-plane.js'
import { missingForCluster } from '../cluster/prepare.js'
import { ensureSuiteImages } from '../images/ensure-images.js'
import { writeControlPlaneImages } from '../kubeadm-init/images.js'
import { type InitPlan, imageLayout } from '../kubeadm-init/plan.js'
import { insideDirectory } from '../node-environment/plan.js'
import {
  inCache,
  type KubeletName,
  kubelets,
  runtimePeers,
  runtimePrograms,
  writeKubelet,
} from '../node-environment/programs.js'
import { startEnvironment } from '../node-environment/start.js'
import { cacheRoot, readPinnedVersion } from '../peers/build.js'
import { peerOf } from '../peers/catalogue.js'
import { type OptionValues, type Unit, type UnitContext, UsageError } from '../unit.js'

const CHECKS = 13

interface Told {
  readonly name: string
  readonly seconds: number
  readonly problem?: string
}

function kubeletOf({ kubelet = 'keelson' }: OptionValues): KubeletName {
  const found = kubelets.find((name) => name === kubelet)
  if (found === undefined) throw new UsageError(`--kubelet is one of ${kubelets.join(', ')}`)
  return found
}

/** What the program inside needs, in a directory that becomes the environment's. */
async function prepare({ peer, options }: UnitContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'keelson-init-'))
  const version = await readPinnedVersion(peerOf('kubeadm-1.37'))
  const entry = join(import.meta.dirname, '../kubeadm-init/inside.ts')
  await build({ ...forNode, entryPoints: [entry], outfile: join(directory, 'init.mjs') })
  const kubeadm = peer('kubeadm-1.37')
  const plan: InitPlan = { kubeadm: inCache(kubeadm), kubectl: inCache(peer('kubectl')), version }
  await writeFile(join(directory, 'init.json'), JSON.stringify(plan))
  await writeControlPlaneImages(join(directory, imageLayout), { kubeadm, version, program: peer })
  await writeKubelet(kubeletOf(options), { directory, peer })
  return directory
}

async function run(context: UnitContext): Promise<void> {
  const { note, peer } = context
  const directory = await prepare(context)
  const peers = { agnhost: peer('agnhost'), sampleDevicePlugin: peer('sample-device-plugin') }
  const { archive } = await ensureSuiteImages(peers, note)
  const told: Told[] = []
  let rest = ''
  const environment = await startEnvironment({
    directory,
    cache: cacheRoot(),
    runtime: 'containerd-2',
    programs: runtimePrograms('containerd-2', peer),
    imageLayout: join(insideDirectory, imageLayout),
    imageArchive: inCache(archive),
    systemdStandIns: true,
    argv: [process.execPath, join(insideDirectory, 'init.mjs')],
    cwd: join(insideDirectory, 'out'),
    env: { HOME: '/root', TMPDIR: '/tmp' },
    onOutput(text) {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (!line.startsWith('check ')) note(line)
        else told.push(JSON.parse(line.slice('check '.length)) as Told)
        const last = told.at(-1)
        if (line.startsWith('check ') && last !== undefined) note(`${last.name}: ${last.seconds} s`)
      }
    },
    leftovers: [context.directory],
  })
  context.defer(() => environment.close())
  const status = await environment.ended
  for (const { name, problem } of told)
    await context.check(name, async () => {
      if (problem !== undefined) throw new Error(problem.slice(-3_000))
    })
  await context.check('no key of the cluster is in the log of the kubelet', async () => {
    const log = await readFile(join(directory, 'out/kubelet.log'), 'utf8')
    if (/PRIVATE KEY/.test(log)) throw new Error('there is a private key')
  })
  await context.check('the run came to its end', async () => {
    if (status !== 0 || told.length < CHECKS)
      throw new Error(`status ${status} after ${told.length} of ${CHECKS} checks`)
  })
  const keep = context.options['keep']
  if (typeof keep === 'string') await cp(join(directory, 'out'), keep, { recursive: true })
}

export const kubeadmInit: Unit = {
  name: 'kubeadm-init',
  summary:
    'kubeadm init with `keelson kubelet`: the control plane as static pods, killed, stopped and changed',
  onlyByName: true,
  peers: [
    ...controlPlanePeers,
    ...runtimePeers,
    'kubeadm-1.37',
    'kubectl',
    'kubelet',
    'agnhost',
    'sample-device-plugin',
  ],
  options: {
    kubelet: { type: 'string', summary: `${kubelets.join(' or ')} (default keelson)` },
    keep: { type: 'string', summary: 'directory to copy the logs to' },
  },
  checkOptions: (options) => void kubeletOf(options),
  missing: missingForCluster,
  run,
}
