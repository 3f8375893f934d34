// KEP-4656 against the real thing: kubeadm and Keelson run the same scenarios on private roots, with a real API
// server behind both; files, annotation and ConfigMaps are compared one by one.
import { createServer } from 'node:http'
import { join } from 'node:path'
import { annotateNode, publishClusterInfo, readCluster, resetCluster } from '../bootstrap/cluster.js'
import { compareStates } from '../bootstrap/compare.js'
import { type DocumentContext, patchesDirectory } from '../bootstrap/documents.js'
import { type Profile, runWithKeelson } from '../bootstrap/keelson.js'
import { explain, unusedExplanations } from '../bootstrap/known-differences.js'
import { type NodeRun, placeCredentials, runWithKubeadm, uploadCluster } from '../bootstrap/kubeadm.js'
import { createPrivateRoot, type PrivateRoot } from '../bootstrap/private-root.js'
import type { Minor, NodeState, Scenario, ToolName } from '../bootstrap/scenario.js'
import { scenarios } from '../bootstrap/scenarios.js'
import { type ControlPlane, startControlPlane } from '../cluster/control-plane.js'
import { readPinnedVersion } from '../peers/build.js'
import { peerOf } from '../peers/catalogue.js'
import { CommandFailed } from '../process.js'
import type { Unit, UnitContext } from '../unit.js'

const peerOfMinor = (minor: Minor) => `kubeadm-${minor}` as const

/** Stands for the kubelet's health endpoint, which `kubeadm join` waits for. */
async function startHealthz(context: UnitContext): Promise<number> {
  const server = createServer((_, res) => res.end('ok'))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  context.defer(async () => {
    server.closeAllConnections()
    await new Promise<void>((resolve) => {
      server.close(() => resolve())
    })
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the health endpoint has no port')
  return address.port
}

type Tool = 'kubeadm' | Profile

interface Ground {
  readonly context: UnitContext
  readonly server: ControlPlane
  readonly healthzPort: number
}

const needsCluster = (scenario: Scenario) => scenario.command !== 'init' && scenario.command !== 'reset'

async function prepareNode(root: PrivateRoot, { server }: Ground, scenario: Scenario): Promise<void> {
  await placeCredentials(root, server)
  for (const [path, text] of Object.entries(scenario.files ?? {})) await root.write(path, text)
  for (const [name, text] of Object.entries(scenario.patches ?? {}))
    await root.write(join(patchesDirectory, name), text)
  for (const endpoint of scenario.listening ?? []) await root.listen(endpoint)
}

const refuses = (scenario: Scenario, minor: Minor, tool: ToolName): boolean =>
  scenario.refusedBy?.[minor]?.includes(tool) === true

/** The refusal: an exit status of its own, and not a crash or a deadline. */
async function wasRefused(command: () => Promise<string>): Promise<CommandFailed | undefined> {
  try {
    await command()
    return undefined
  } catch (e) {
    if (e instanceof CommandFailed && (e.result.status === 1 || e.result.status === 2)) return e
    throw e
  }
}

async function runScenario(ground: Ground, scenario: Scenario, minor: Minor, tool: Tool): Promise<NodeState> {
  const { context, server } = ground
  const binary = context.peer(peerOfMinor(minor))
  const documents: DocumentContext = {
    version: await readPinnedVersion(peerOf(peerOfMinor(minor))),
    healthzPort: ground.healthzPort,
    patches: undefined,
  }
  await resetCluster(server)
  if (needsCluster(scenario)) {
    const seed = await createPrivateRoot(join(context.directory, 'seed'))
    try {
      await placeCredentials(seed, server)
      await uploadCluster({ binary, root: seed, server, context: documents }, scenario)
    } finally {
      await seed.close()
    }
  }
  await annotateNode(server, scenario.annotation ?? null)
  const root = await createPrivateRoot(join(context.directory, tool))
  try {
    await prepareNode(root, ground, scenario)
    const run = (patches: string): NodeRun => ({
      binary,
      root,
      server,
      context: { ...documents, patches: scenario.patches === undefined ? undefined : patches },
    })
    const refused = await wasRefused(() =>
      tool === 'kubeadm'
        ? runWithKubeadm(run(patchesDirectory), scenario)
        : runWithKeelson(run(root.inside(patchesDirectory)), scenario, tool),
    )
    const expected = refuses(scenario, minor, tool === 'kubeadm' ? 'kubeadm' : 'keelson')
    if (expected && refused === undefined) throw new Error('the command was not refused')
    if (!expected && refused !== undefined) throw refused
    return { ...(await root.readState()), ...(await readCluster(server)) }
  } finally {
    await root.close()
  }
}

const profiles: readonly Profile[] = ['upstream', 'kep']

/** kubeadm runs once; each profile of Keelson is compared with what it left. */
async function compareScenario(ground: Ground, scenario: Scenario, minor: Minor): Promise<void> {
  const { context } = ground
  const title = `kubeadm ${minor}: ${scenario.name}`
  let kubeadm: NodeState | undefined
  await context.check(title, async () => {
    kubeadm = await runScenario(ground, scenario, minor, 'kubeadm')
  })
  for (const profile of profiles)
    await context.check(`${title}: keelson, profile ${profile}`, async () => {
      if (kubeadm === undefined) throw new Error('kubeadm left nothing to compare with')
      const keelson = await runScenario(ground, scenario, minor, profile)
      if (refuses(scenario, minor, 'kubeadm') !== refuses(scenario, minor, 'keelson')) return
      const unexplained: string[] = []
      for (const difference of compareStates(kubeadm, keelson)) {
        const line = `${difference.item}: kubeadm ${difference.kubeadm}, keelson ${difference.keelson}`
        const reason = explain(difference, { scenario, minor, profile })
        if (reason === undefined) unexplained.push(line)
        else if (reason.worthShowing) context.note(`${reason.name}: ${line}`)
      }
      if (unexplained.length > 0)
        throw new Error(`differs without an explanation:\n${unexplained.join('\n')}`)
    })
}

export const bootstrap: Unit = {
  name: 'bootstrap',
  summary: 'keelson node and kubeadm do the same to files, annotation and ConfigMaps (KEP-4656)',
  peers: ['etcd', 'kube-apiserver', 'kubeadm-1.35', 'kubeadm-1.36', 'kubeadm-1.37'],
  async run(context) {
    if (process.getuid?.() !== 0) {
      context.skip('kubeadm and keelson on private roots', 'kubeadm --rootfs needs root')
      return
    }
    // No controllers: the objects are only written and read.
    const binaries = { etcd: context.peer('etcd'), 'kube-apiserver': context.peer('kube-apiserver') }
    const server = await startControlPlane({ binaries, directory: join(context.directory, 'control-plane') })
    context.defer(() => server.close())
    await publishClusterInfo(server)
    const ground: Ground = { context, server, healthzPort: await startHealthz(context) }
    for (const scenario of scenarios)
      for (const minor of scenario.minors) await compareScenario(ground, scenario, minor)
    await context.check('every listed difference still exists', async () => {
      const unused = unusedExplanations()
      if (unused.length > 0) throw new Error(`no longer seen, take it off the list: ${unused.join(', ')}`)
    })
  },
}
