// Settings and manifests that guard the node, on the host with a real containerd: seccompDefault as the kernel sees it, and a
// file of nonsense in staticPodPath beside pods that run.
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { forever, shell } from '../kubelet/node.js'
import { endPods, running, useNode } from '../kubelet/use-node.js'
import { processorWaitMs } from '../support/processor-wait.js'

const node = useNode({ config: 'seccompDefault: true\n' })

/** Of the first process of a container: 0 none, 2 a filter. */
async function seccompOf(name: string, container: string): Promise<string | undefined> {
  const found = (await node().containers(name)).find((c) => c.metadata?.name === container)
  const { info } = await node().cri.runtime.containerStatus({ containerId: found?.id ?? '', verbose: true })
  const { pid } = JSON.parse(info.info ?? '{}') as { readonly pid: number }
  return /^Seccomp:\s+(\d)$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]
}

test('seccompDefault: true: a container without a profile has a filter, one that asks for none or is privileged has none', async () => {
  const securityContext = { seccompProfile: { type: 'Unconfined' } }
  await node().pod('guarded', {
    containers: [
      shell('plain', forever),
      shell('unconfined', forever, { securityContext }),
      shell('privileged', forever, { securityContext: { privileged: true } }),
    ],
  })
  await node().pod('open', { securityContext, containers: [shell('inherits', forever)] })
  await running(node(), 'guarded')
  await running(node(), 'open')
  expect(await seccompOf('guarded', 'plain')).toBe('2')
  expect(await seccompOf('guarded', 'unconfined')).toBe('0')
  expect(await seccompOf('guarded', 'privileged')).toBe('0')
  expect(await seccompOf('open', 'inherits')).toBe('0')
  await endPods(node(), 'guarded', 'open')
})

/** The most memory that the kubelet ever had, in MiB. */
const peakMiB = async (): Promise<number> =>
  Number(/^VmHWM:\s+(\d+) kB/m.exec(await readFile(`/proc/${node().pid}/status`, 'utf8'))?.[1]) / 1024

for (const [size, bytes, says] of [
  ['400 KB', 400_000, /junk\.yaml: more than 262144 bytes/],
  ['200 KB', 200_000, /parse \S+\/junk\.yaml:1: Unexpected/],
] as const)
  test(`${size} of ] as a manifest: /healthz answers at once, memory stays, other pods start, the file is named`, async () => {
    const before = await peakMiB()
    const known = node().log().length
    await node().write('junk.yaml', ']'.repeat(bytes))
    await node().pod('beside', { containers: [shell('app', forever)] })
    let longest = 0
    const waited = processorWaitMs(node().pid)
    const isUp = { yet: false }
    const up = running(node(), 'beside').then(() => {
      isUp.yet = true
    })
    while (!isUp.yet) {
      const from = performance.now()
      expect((await fetch(`http://127.0.0.1:${node().healthPort}/healthz`)).status).toBe(200)
      longest = Math.max(longest, performance.now() - from)
      await sleep(5)
    }
    await up
    expect(node().log().slice(known)).toMatch(says)
    // Generous: another process may have had the processor, on either side of the connection. It was 15 s before.
    expect(longest - (processorWaitMs(node().pid) - waited)).toBeLessThan(1_000)
    expect((await peakMiB()) - before).toBeLessThan(64)
    await node().removeManifest('junk.yaml')
    await endPods(node(), 'beside')
  })
