// The shipped command killed for real: strace ends it with SIGKILL at its n-th rename or at its n-th write to the disk, and the
// next run settles what was left.
import { spawnSync } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Bundle, bundleCommand } from '../support/command.js'
import { requires } from '../support/requirements.js'
import {
  configPath,
  createTestNode,
  crio,
  effectiveEndpoint,
  flagsPath,
  kubeletDocument,
  type TestNode,
} from './scene.js'

const upgrade = [
  'node',
  'upgrade',
  'node',
  '--kubernetes-version',
  '1.35',
  '--ignore-preflight-errors',
  'all',
]
const stamp = /\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d-\w+/g

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

async function arrange(): Promise<TestNode> {
  await node?.close()
  node = await createTestNode()
  await node.put(configPath, kubeletDocument())
  await node.put(flagsPath, `KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=${crio} --v=2"\n`)
  return node
}

const command = (of: TestNode): string[] => [
  process.execPath,
  bundle?.main ?? '',
  ...upgrade,
  '--rootfs',
  of.root,
]

/** `name`: the system call at whose n-th use the process dies, before it is done. */
function runKilled(of: TestNode, name: string, n: number): NodeJS.Signals | null {
  const inject = `inject=${name}:signal=KILL:when=${n}`
  const { signal, status } = spawnSync(
    'strace',
    ['-f', '-qq', '-o', '/dev/null', '-e', inject, ...command(of)],
    {
      timeout: 60_000,
      // strace counts calls of one thread; so there is one that does them all.
      env: { ...process.env, UV_THREADPOOL_SIZE: '1' },
    },
  )
  // strace ends as its child did.
  return status === 0 ? null : (signal ?? 'SIGHUP')
}

const leftovers = async (of: TestNode): Promise<string[]> =>
  (await readdir(of.root, { recursive: true }))
    .filter((n) => /keelson-new|node-journal|node\.lock/.test(n))
    .map((n) => n.replace(stamp, ''))

// fsync comes after each write and before each rename is final; rename is each step of the change itself.
test.for(['rename', 'fsync', 'unlink'])('killed at every %s', { timeout: 300_000 }, async (name, ctx) => {
  requires(ctx, { commands: ['strace'] })
  const undisturbed = await arrange()
  const [program = '', ...args] = command(undisturbed)
  expect(spawnSync(program, args).status).toBe(0)
  const after = await undisturbed.files()
  let kills = 0
  for (let n = 1; ; n++) {
    const here = await arrange()
    const before = await here.files()
    if (runKilled(here, name, n) !== 'SIGKILL') break
    kills++
    const dark = await here.files()
    for (const [path, text] of Object.entries(dark))
      expect([before[path], after[path]], `${path}, killed at ${name} ${n}`).toContain(text)
    expect(effectiveEndpoint(dark), `socket, killed at ${name} ${n}`).toBe(crio)
    const [again = '', ...words] = command(here)
    expect(spawnSync(again, words, { encoding: 'utf8' }), `next, killed at ${name} ${n}`).toMatchObject({
      status: 0,
    })
    expect(await here.files(), `files, killed at ${name} ${n}`).toEqual(after)
    expect(await leftovers(here), `left over, killed at ${name} ${n}`).toEqual([])
  }
  console.log(`killed at ${kills} calls of ${name}`)
  expect(kills).toBeGreaterThan(2)
})
