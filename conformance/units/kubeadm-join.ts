// Real kubeadm joins a real control plane with `keelson kubelet` as the kubelet: bootstrap token, certificate, Node Ready, and the
// node-local configuration in use (KEP-4656).
import assert from 'node:assert/strict'
import { chmod, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { parse } from 'yaml'
import { forNode } from '../../scripts/bundling.mjs'
import { controlPlanePeers } from '../cluster/control-plane.js'
import { missingForCluster } from '../cluster/prepare.js'
import { ensureSuiteImages } from '../images/ensure-images.js'
import { type JoinPlan, type JoinReport, joinReport } from '../kubeadm-join/plan.js'
import { insideDirectory } from '../node-environment/plan.js'
import { inCache, runtimePeers, runtimePrograms, writeKubelet } from '../node-environment/programs.js'
import { startEnvironment } from '../node-environment/start.js'
import { cacheRoot, readPinnedVersion } from '../peers/build.js'
import { type PeerName, peerOf } from '../peers/catalogue.js'
import type { Unit, UnitContext } from '../unit.js'

const minors = ['kubeadm-1.36', 'kubeadm-1.37'] as const

async function runJoin(context: UnitContext, kubeadm: PeerName): Promise<JoinReport> {
  const { note, peer } = context
  const directory = await mkdtemp(join(tmpdir(), 'keelson-join-'))
  await chmod(directory, 0o700)
  const bundle = 'join.mjs'
  const entry = join(import.meta.dirname, '../kubeadm-join/inside.ts')
  await build({ ...forNode, entryPoints: [entry], outfile: join(directory, bundle) })
  const plan: JoinPlan = {
    binaries: {
      etcd: inCache(peer('etcd')),
      'kube-apiserver': inCache(peer('kube-apiserver')),
      'kube-controller-manager': inCache(peer('kube-controller-manager')),
    },
    kubeadm: inCache(peer(kubeadm)),
    version: await readPinnedVersion(peerOf(kubeadm)),
  }
  await writeFile(join(directory, 'join.json'), JSON.stringify(plan))
  await writeKubelet('keelson', { directory, peer })
  const peers = { agnhost: peer('agnhost'), sampleDevicePlugin: peer('sample-device-plugin') }
  const images = await ensureSuiteImages(peers, note)
  const environment = await startEnvironment({
    directory,
    cache: cacheRoot(),
    runtime: 'containerd-2',
    programs: runtimePrograms('containerd-2', peer),
    imageLayout: inCache(images.layout),
    imageArchive: inCache(images.archive),
    systemdStandIns: false,
    argv: [process.execPath, join(insideDirectory, bundle)],
    cwd: join(insideDirectory, 'out'),
    env: { HOME: '/root', TMPDIR: '/tmp' },
    onOutput: (text) => note(text.trimEnd()),
    leftovers: [context.directory],
  })
  try {
    await environment.ended
    return JSON.parse(await readFile(join(directory, 'out', joinReport), 'utf8')) as JoinReport
  } finally {
    await environment.close()
  }
}

async function checkJoin(context: UnitContext, kubeadm: PeerName): Promise<void> {
  let found: JoinReport | undefined
  const check = (name: string, body: (report: JoinReport) => void) =>
    context.check(`${kubeadm}: ${name}`, async () => {
      if (found === undefined) throw new Error('there is no report')
      body(found)
    })
  await context.check(`${kubeadm}: join ends with status 0`, async () => {
    found = await runJoin(context, kubeadm)
    assert.equal(
      found.kubeadmStatus,
      0,
      `${found.kubeadmOutput.slice(-3000)}\n${found.kubeletLog.slice(-3000)}`,
    )
  })
  await check('the Node is Ready', ({ ready, kubeletLog }) =>
    assert.equal(ready, 'True', kubeletLog.slice(-3000)),
  )
  await check('the certificate was asked for with the token, and the kubeconfig names it', (r) => {
    assert.ok(r.csrNames.length >= 1, r.csrNames.join())
    assert.ok(r.pki.includes('kubelet-client-current.pem'), r.pki.join())
    const { users } = parse(r.kubeconfig) as { users: { user: Readonly<Record<string, string>> }[] }
    assert.equal(users[0]?.user['client-certificate'], '/var/lib/kubelet/pki/kubelet-client-current.pem')
  })
  await check('the socket of the node is in its own file, in no annotation, and in use', (r) => {
    const socket = 'unix:///run/containerd/containerd.sock'
    assert.match(r.instanceConfig ?? '', /containerRuntimeEndpoint: .*containerd\.sock/)
    assert.equal(r.annotations['kubeadm.alpha.kubernetes.io/cri-socket'], undefined)
    assert.equal(r.configz.kubeletconfig?.['containerRuntimeEndpoint'], socket)
  })
  await check('the cgroup driver is the one of the runtime, whatever kubeadm wrote', (r) =>
    assert.equal(r.configz.kubeletconfig?.['cgroupDriver'], 'cgroupfs'),
  )
  await check('no secret is in the log of the kubelet', (r) =>
    assert.doesNotMatch(r.kubeletLog, /abcdef\.0123456789abcdef|PRIVATE KEY/),
  )
}

export const kubeadmJoin: Unit = {
  name: 'kubeadm-join',
  summary:
    'real kubeadm joins a control plane with `keelson kubelet`: token, certificate, Node Ready (KEP-4656)',
  peers: [...controlPlanePeers, ...runtimePeers, ...minors, 'agnhost', 'sample-device-plugin', 'kubelet'],
  missing: missingForCluster,
  async run(context) {
    for (const kubeadm of minors) await checkJoin(context, kubeadm)
  },
}
