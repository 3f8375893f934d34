// The power goes at every single change of a command: files are whole, the kubelet finds a socket that works, and
// the next command settles what was left.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { recover } from '../../src/bootstrap/execute/recover.js'
import { wireNode } from '../../src/cli/node/wire.js'
import type { FakeCluster } from '../../src/fakes/cluster-objects.js'
import {
  annotationKey,
  clusterWith,
  configPath,
  containerd,
  createTestNode,
  crio,
  effectiveEndpoint,
  endpointFlag,
  flagsFile,
  flagsPath,
  ignorePreflight,
  instancePath,
  kubeletDocument,
  nodeName,
  runWired,
  type TestNode,
} from './fixture.js'
import { dyingPorts, PowerCut } from './power-cut.js'

interface Scenario {
  readonly name: string
  readonly args: readonly string[]
  readonly before: Readonly<Record<string, string>>
  readonly cluster: () => FakeCluster
  /** Endpoints with a living runtime; the kubelet must end up at one of them in every state. */
  readonly alive: readonly string[]
  readonly annotationAfter: string | undefined
}

const flagged = (endpoint: string): string => flagsFile(`${endpointFlag(endpoint)} --v=2`)

const scenarios: readonly Scenario[] = [
  {
    name: 'upgrade node moves the flag into the instance file',
    args: ['upgrade', 'node', '--kubernetes-version', '1.35', ...ignorePreflight],
    before: { [configPath]: kubeletDocument(), [flagsPath]: flagged(crio) },
    cluster: () => clusterWith({ annotation: crio }),
    alive: [crio],
    annotationAfter: undefined,
  },
  {
    name: 'upgrade apply with the gate off puts the flag back',
    args: ['upgrade', 'apply', '--kubernetes-version', '1.35', ...ignorePreflight],
    before: {
      [instancePath]: `containerRuntimeEndpoint: "${crio}"\n`,
      [configPath]: kubeletDocument(crio),
      [flagsPath]: flagsFile('--v=2'),
    },
    cluster: () => clusterWith({ gate: false }),
    alive: [crio],
    annotationAfter: crio,
  },
  {
    name: 'join over the files of an older life',
    args: ['join', '--kubernetes-version', '1.36', '--cri-socket', containerd, ...ignorePreflight],
    before: { [configPath]: kubeletDocument(), [flagsPath]: flagged(crio) },
    cluster: () => clusterWith({}),
    alive: [crio, containerd],
    annotationAfter: undefined,
  },
  {
    name: 'use-socket by the instance file',
    args: ['use-socket', containerd, '--force'],
    before: {
      [instancePath]: `containerRuntimeEndpoint: "${crio}"\n`,
      [configPath]: kubeletDocument(crio),
      [flagsPath]: flagged(crio),
    },
    cluster: () => clusterWith({ annotation: crio }),
    alive: [crio, containerd],
    annotationAfter: containerd,
  },
]

let node: TestNode | undefined
afterEach(async () => {
  await node?.close()
  node = undefined
})

async function arrange(scenario: Scenario): Promise<{ node: TestNode; cluster: FakeCluster }> {
  await node?.close()
  node = await createTestNode()
  for (const [path, text] of Object.entries(scenario.before)) await node.put(path, text)
  return { node, cluster: scenario.cluster() }
}

const annotationOf = (cluster: FakeCluster) => cluster.nodes.get(nodeName)?.get(annotationKey)

async function leftovers(of: TestNode): Promise<string[]> {
  const names = await readdir(of.root, { recursive: true })
  return names.filter((n) => /keelson-new|node-journal|node\.lock/.test(n))
}

describe.each(scenarios)('power cut: $name', (scenario) => {
  test.each([false, true])('at every change, torn writes: %s', async (torn) => {
    const undisturbed = await arrange(scenario)
    let changes = () => 0
    const fine = await runWired(
      undisturbed.node,
      (ports) => {
        const dying = dyingPorts({ ...ports, cluster: undisturbed.cluster }, undisturbed.node.root, -1, false)
        changes = dying.count
        return dying.ports
      },
      scenario.args,
    )
    expect(fine.error).toBeUndefined()
    const total = changes()
    const after = await undisturbed.node.files()
    expect(annotationOf(undisturbed.cluster)).toBe(scenario.annotationAfter)
    expect(total).toBeGreaterThan(6)

    for (let at = 0; at < total; at++) {
      const { node: here, cluster } = await arrange(scenario)
      const before = await here.files()
      const cut = await runWired(
        here,
        (ports) => dyingPorts({ ...ports, cluster }, here.root, at, torn).ports,
        scenario.args,
      )
      expect(cut.error, `cut at ${at}`).toBeInstanceOf(PowerCut)
      const dark = await here.files()
      for (const [path, text] of Object.entries(dark))
        expect([before[path], after[path]], `${path} at ${at} is whole`).toContain(text)
      expect(scenario.alive, `socket at ${at}`).toContain(effectiveEndpoint(dark))

      if (at % 2 === 0) {
        // Settling alone, as any other command would do first: all of it or nothing of it.
        const settled = await recover({ ...(await wireNode({ rootfs: here.root })), cluster })
        expect(await here.files(), `settled after ${at}`).toEqual(settled === undefined ? dark : after)
        if (settled === undefined) expect([before, after], `settled after ${at}`).toContainEqual(dark)
      }
      const next = await runWired(here, (ports) => ({ ...ports, cluster }), scenario.args)
      expect(next.error, `next command after ${at}`).toBeUndefined()
      expect(await here.files(), `files after ${at}`).toEqual(after)
      expect(annotationOf(cluster), `annotation after ${at}`).toBe(scenario.annotationAfter)
      expect(await leftovers(here), `left over after ${at}`).toEqual([])
    }
  })
})

describe('power cut: reset', () => {
  test('is finished by whatever command comes next', async () => {
    const scenario: Scenario = {
      name: 'reset',
      args: ['reset', '--force', '--kubernetes-version', '1.36', '--cri-socket', crio, ...ignorePreflight],
      before: {
        [instancePath]: `containerRuntimeEndpoint: "${crio}"\n`,
        [configPath]: kubeletDocument(crio),
        [flagsPath]: flagsFile(),
        '/etc/kubernetes/kubelet.conf': 'x',
        '/etc/kubernetes/pki/ca.crt': 'x',
      },
      cluster: () => clusterWith({}),
      alive: [],
      annotationAfter: undefined,
    }
    let at = 0
    for (; ; at++) {
      const { node: here, cluster } = await arrange(scenario)
      const cut = await runWired(
        here,
        (p) => dyingPorts({ ...p, cluster }, here.root, at, true).ports,
        scenario.args,
      )
      if (cut.error === undefined) break
      const begun = await here.read('/var/lib/keelson/node-journal.json')
      // Any other command settles it first: a reset that has begun ends, one that has not leaves all as it was.
      const next = await runWired(here, (p) => ({ ...p, cluster }), ['use-socket', crio, '--force'])
      const files = Object.values(await here.files())
      if (begun === undefined) {
        expect(next.error, `at ${at}`).toBeUndefined()
        if (files.every((f) => f === null))
          expect(await here.read('/etc/kubernetes/kubelet.conf')).toBeUndefined()
      } else {
        expect(files, `at ${at}`).toEqual([null, null, null])
        expect(await here.read('/etc/kubernetes/pki/ca.crt')).toBeUndefined()
        expect(await readdir(join(here.root, 'var/lib/kubelet'))).toEqual([])
      }
    }
    expect(at).toBeGreaterThan(8)
  })
})
