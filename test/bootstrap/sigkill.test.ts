// The shipped command killed for real: strace ends it with SIGKILL at its n-th rename, sync or unlink, and the next run
// settles what was left.
import { spawnSync } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Bundle, bundleCommand } from '../support/command.js'
import { requires } from '../support/requirements.js'
import { listen, snapshot, unitPath, wantsPath } from './cri-fixture.js'
import {
  configPath,
  createTestNode,
  crio,
  effectiveEndpoint,
  endpointFlag,
  flagsFile,
  flagsPath,
  kubeletDocument,
  type TestNode,
} from './fixture.js'

const upgrade = 'node upgrade node --kubernetes-version 1.35 --ignore-preflight-errors all'.split(' ')

const rows = [
  // A sync comes after each write; a rename is each step of the change itself.
  { name: 'upgrade node', args: upgrade, call: 'rename', atLeast: 4 },
  { name: 'upgrade node', args: upgrade, call: 'fsync', atLeast: 10 },
  { name: 'upgrade node', args: upgrade, call: 'unlink', atLeast: 3 },
  { name: 'cri install', args: ['cri', 'install'], call: 'rename', atLeast: 6 },
  { name: 'cri uninstall', args: ['cri', 'uninstall'], call: 'unlink', atLeast: 5 },
] as const

let bundle: Bundle | undefined
let node: TestNode | undefined
beforeAll(async () => {
  bundle = await bundleCommand()
})
afterEach(async () => {
  await node?.close()
  node = undefined
})
afterAll(() => bundle?.remove())

const words = (of: TestNode, args: readonly string[]): string[] => [
  bundle?.main ?? '',
  ...args,
  '--rootfs',
  of.root,
]
const runNow = (of: TestNode, args: readonly string[]) =>
  spawnSync(process.execPath, words(of, args), { encoding: 'utf8', timeout: 60_000 })

async function arrange(args: readonly string[]): Promise<TestNode> {
  await node?.close()
  node = await createTestNode()
  await node.put(configPath, kubeletDocument())
  await node.put(flagsPath, flagsFile(`${endpointFlag(crio)} --v=2`))
  if (args.includes('uninstall')) expect(runNow(node, ['cri', 'install']).status).toBe(0)
  return node
}

/** False: it ended before the call came for the n-th time. The call itself is not done any more. */
function runKilled(of: TestNode, args: readonly string[], call: string, n: number): boolean {
  const inject = `inject=${call}:signal=KILL:when=${n}`
  const { signal } = spawnSync(
    'strace',
    ['-f', '-qq', '-o', '/dev/null', '-e', inject, process.execPath, ...words(of, args)],
    {
      timeout: 60_000,
      // strace counts calls of one thread; so there is one that does them all.
      env: { ...process.env, UV_THREADPOOL_SIZE: '1' },
    },
  )
  // strace ends as its child did.
  return signal === 'SIGKILL'
}

const leftovers = async (of: TestNode): Promise<string[]> =>
  (await readdir(of.root, { recursive: true })).filter((n) => /keelson-new|node-journal|node\.lock/.test(n))

/** Of an upgrade each run makes a backup of its own; of a record only the time differs. */
const stable = (tree: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(tree).filter(([path]) => !/kubernetes\/tmp|var\/lib\/keelson/.test(path)))

test.for(rows)('$name killed at every $call', { timeout: 300_000 }, async ({ args, call, atLeast }, ctx) => {
  requires(ctx, { commands: ['strace'] })
  const undisturbed = await arrange(args)
  expect(runNow(undisturbed, args).status).toBe(0)
  const after = await undisturbed.files()
  const tree = stable(await snapshot(undisturbed))
  let kills = 0
  for (let n = 1; ; n++) {
    const here = await arrange(args)
    const before = await here.files()
    if (!runKilled(here, args, call, n)) break
    kills++
    const dark = await here.files()
    for (const [path, text] of Object.entries(dark))
      expect([before[path], after[path]], `${path}, killed at ${n}`).toContain(text)
    const endpoint = effectiveEndpoint(dark)
    const found = await snapshot(here)
    if (endpoint === listen)
      expect([found[unitPath.slice(1)], found[wantsPath.slice(1)]], `server at ${n}`).not.toContain(undefined)
    else expect(endpoint, `socket, killed at ${n}`).toBe(crio)
    expect(runNow(here, args), `next, killed at ${n}`).toMatchObject({ status: 0 })
    expect(await here.files(), `files, killed at ${n}`).toEqual(after)
    expect(stable(await snapshot(here)), `tree, killed at ${n}`).toEqual(tree)
    expect(await leftovers(here), `left over, killed at ${n}`).toEqual([])
  }
  expect(kills).toBeGreaterThanOrEqual(atLeast)
})
