// 2,000 generated combinations of state, command, release and gate: none crashes, an error changes nothing, and a
// second run finds nothing to do.
import { readdir } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { isKeelsonError } from '../../src/core/errors.js'
import type { FakeCluster } from '../../src/fakes/cluster-objects.js'
import type { NodePorts } from '../../src/ports/bootstrap.js'
import {
  clusterState,
  clusterWith,
  configPath,
  containerd,
  createTestNode,
  crio,
  effectiveEndpoint,
  flagsFile,
  flagsPath,
  ignorePreflight,
  instancePath,
  kubeletDocument,
  runWired,
  type TestNode,
} from './fixture.js'

const total = 2_000
const seed = 4656

/** mulberry32: the same combinations on every machine. */
function random(from: number): () => number {
  let state = from
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

const cridockerd = 'unix:///var/run/cri-dockerd.sock'
const endpointWords = [`--container-runtime-endpoint=${crio}`, `--container-runtime-endpoint ${containerd}`]

const choices = {
  command: ['init', 'join', 'upgrade apply', 'upgrade apply', 'upgrade node', 'upgrade node', 'reset'],
  minor: [24, 31, 32, 33, 34, 35, 36, 37, 38],
  gate: [undefined, undefined, true, false],
  instance: [
    undefined,
    undefined,
    undefined,
    undefined,
    `containerRuntimeEndpoint: "${containerd}"\n`,
    `containerRuntimeEndpoint: "${crio}"\n`,
    `containerRuntimeEndpoint: ${containerd}\nmaxPods: 60\n`,
    'maxPods: 60\n',
    '# nothing\n',
    '- a\n- list\n',
    'containerRuntimeEndpoint: 5\n',
    'containerRuntimeEndpoint: /run/no-scheme.sock\n',
    'a: [\n',
  ],
  flags: [
    undefined,
    flagsFile(''),
    flagsFile(endpointWords[0] ?? ''),
    flagsFile(`--v=2 ${endpointWords[1]} --node-ip=192.0.2.1`),
    flagsFile(`stray ${endpointWords[0]} --switch --v 3`),
    flagsFile('--v=2'),
    'OTHER=1\n',
    `# note\n${flagsFile(endpointWords[0] ?? '')}EXTRA=1\n`,
  ],
  config: [
    undefined,
    'OLD',
    kubeletDocument(),
    kubeletDocument(),
    kubeletDocument(crio),
    kubeletDocument(crio),
  ],
  annotation: [
    undefined,
    undefined,
    crio,
    crio,
    containerd,
    containerd,
    '/run/no-scheme.sock',
    'tcp://127.0.0.1:1',
    '',
  ],
  listening: [
    [],
    [containerd],
    [crio],
    [containerd],
    [crio],
    [containerd, crio],
    [containerd, crio, cridockerd],
  ],
  asked: [
    undefined,
    undefined,
    undefined,
    undefined,
    crio,
    containerd,
    crio,
    '/run/x.sock',
    'tcp://h:1',
    'unix/run/x',
    '',
  ],
  patch: [
    undefined,
    undefined,
    undefined,
    undefined,
    ['kubeletconfiguration.yaml', 'maxPods: 5\n'],
    ['kubeletconfiguration+merge.json', '{"maxPods": null}'],
    [
      'kubeletconfiguration+json.yaml',
      '- {op: replace, path: /containerRuntimeEndpoint, value: "unix:///p"}\n',
    ],
    ['kubeletconfiguration+json.yaml', 'maxPods: 5\n'],
    ['kubeletconfiguration+odd.yaml', 'maxPods: 5\n'],
    ['kubeletconfiguration.yaml', '- 1\n'],
  ],
  dryRun: [false, false, false, true],
  online: [true, true, true, false],
  profile: ['kep', 'kep', 'upstream'],
} as const

type Combination = { readonly [K in keyof typeof choices]: (typeof choices)[K][number] }

function combine(next: () => number): Combination {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T
  return Object.fromEntries(
    Object.entries(choices).map(([k, list]) => [k, pick<unknown>(list)]),
  ) as Combination
}

async function argumentsOf(c: Combination, node: TestNode): Promise<string[]> {
  const args = [...c.command.split(' '), '--kubernetes-version', `1.${c.minor}`, '--profile', c.profile]
  args.push(...ignorePreflight)
  if (c.dryRun) args.push('--dry-run')
  if (c.command === 'reset') args.push('--force')
  const takesSocket = !c.command.startsWith('upgrade')
  if (takesSocket && c.asked !== undefined) args.push('--cri-socket', c.asked)
  if (c.gate !== undefined && c.command !== 'reset' && (c.command === 'init' || !c.online))
    args.push('--feature-gates', `NodeLocalCRISocket=${c.gate}`)
  if (c.command === 'join' && !c.online) {
    await node.put('/kubelet.yaml', kubeletDocument())
    args.push('--kubelet-config', `${node.root}/kubelet.yaml`)
  }
  if (c.patch !== undefined && c.command !== 'reset') {
    await node.put(`/given/${c.patch[0]}`, c.patch[1])
    args.push('--patches', `${node.root}/given`)
  }
  return args
}

async function stateOf(node: TestNode, cluster: FakeCluster): Promise<string> {
  return JSON.stringify([await node.files(), clusterState(cluster)])
}

const keeps = (c: Combination): boolean =>
  c.command.startsWith('upgrade') && !c.dryRun && c.patch?.[1].includes('containerRuntimeEndpoint') !== true

/** reset forgets on purpose; and an instance file that names no endpoint is left as it is, by rule. */
const recordsSocket = (c: Combination): boolean =>
  c.command !== 'reset' && (c.instance === undefined || c.instance.includes('containerRuntimeEndpoint'))

test(`${total} combinations are idempotent and never crash`, { timeout: 240_000 }, async () => {
  const next = random(seed)
  const seen = { ok: 0, error: 0, kept: 0 }
  const codes = new Map<string, number>()
  for (let i = 0; i < total; i++) {
    const c = combine(next)
    const name = `#${i} ${JSON.stringify(c)}`
    const node = await createTestNode()
    try {
      if (c.instance !== undefined) await node.put(instancePath, c.instance)
      if (c.flags !== undefined) await node.put(flagsPath, c.flags)
      if (c.config !== undefined) await node.put(configPath, c.config)
      const cluster = clusterWith({
        ...(c.annotation === undefined ? {} : { annotation: c.annotation }),
        ...(c.gate === undefined ? {} : { gate: c.gate }),
      })
      const listening: readonly string[] = c.listening
      const change = (ports: NodePorts): NodePorts => ({
        ...ports,
        cluster: c.online ? cluster : undefined,
        sockets: { answers: async (e) => listening.includes(e), isDenied: async () => false },
        runtime: { describe: async () => undefined, removePods: async () => ({ removed: 0, problems: [] }) },
      })
      const args = await argumentsOf(c, node)
      const filesBefore = await node.files()
      const before = await stateOf(node, cluster)
      const first = await runWired(node, change, args)
      const after = await stateOf(node, cluster)
      if (first.error !== undefined) {
        seen.error++
        const code = isKeelsonError(first.error) ? first.error.code : `not ours: ${first.error.stack}`
        codes.set(code, (codes.get(code) ?? 0) + 1)
        expect(code, name).toMatch(/^(node|config|usage|yaml|file|input)\./)
        expect(after, name).toBe(before)
      } else {
        seen.ok++
        if (c.dryRun) expect(after, name).toBe(before)
        const second = await runWired(node, change, args)
        if (recordsSocket(c)) expect(second.error, name).toBeUndefined()
        expect(await stateOf(node, cluster), name).toBe(after)
        const flag = /--container-runtime-endpoint[= ]([^\s"]+)/.exec(filesBefore[flagsPath] ?? '')?.[1]
        if (flag !== undefined && keeps(c)) {
          seen.kept++
          expect(effectiveEndpoint(await node.files()).replace(/^(?=\/)/, 'unix://'), name).toBe(flag)
        }
      }
      const left = (await readdir(node.root, { recursive: true })).filter((n) =>
        /keelson-new|journal|lock$/.test(n),
      )
      expect(left, name).toEqual([])
    } finally {
      await node.close()
    }
  }
  // The generator must reach both ends, and every kind of error that bad states can give.
  console.log(
    `combinations: ${seen.ok} ok, ${seen.error} errors, ${seen.kept} upgrades that had to keep a flag's endpoint`,
  )
  expect(seen.ok).toBeGreaterThan(500)
  expect(seen.error).toBeGreaterThan(500)
  expect(seen.kept).toBeGreaterThan(50)
  expect([...codes.keys()].sort()).toEqual([
    'config.invalid',
    'node.file-invalid',
    'node.file-missing',
    'node.patch',
    'node.several-runtimes',
    'node.socket-unknown',
    'yaml.invalid',
  ])
})
