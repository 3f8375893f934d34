// Files of pods on the host with a real containerd: logs that are rotated or replaced, and a root directory behind a link.
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { forever, shell, until } from '../kubelet/node.js'
import { endPods, running, useNode } from '../kubelet/use-node.js'
import { startCommand } from '../support/command.js'

const maxFiles = 3
const node = useNode({
  linkedRoot: true,
  config: `containerLogMaxSize: 256Ki
containerLogMaxFiles: ${maxFiles}
containerLogMonitorInterval: 3s
`,
})

const lineCount = 30_000
const numbersIn = (text: string): number[] => [...text.matchAll(/line (\d+) /g)].map(([, n]) => Number(n))
/** One after the other, without a gap and without a repetition. */
const areInOrder = (numbers: readonly number[]): boolean =>
  numbers.every((n, i) => i === 0 || n === (numbers[i - 1] ?? 0) + 1)

describe('logs', () => {
  test('POD-120 a chatty container keeps containerLogMaxFiles files, no line is lost, and logs -f sees every line', async () => {
    // About 2,000 lines of 150 bytes each second, and time for a last look at their size.
    const script = `i=0; while [ $i -lt ${lineCount} ]; do i=$((i+1)); echo "line $i ${'x'.repeat(100)}"; [ $((i % 200)) = 0 ] && sleep 0.1; done; sleep 5`
    await node().pod('chatty', { restartPolicy: 'Never', containers: [shell('app', script)] })
    await until('it speaks', async () => (await node().readLog('chatty', 'app')).includes('line 1 '))
    const uid = (await node().podNamed('chatty'))?.metadata.uid ?? ''
    const directory = join(node().logs, `default_chatty-node-1_${uid}`, 'app')
    const follow = startCommand([node().main, 'logs', ...node().reach, '-f', 'chatty'])
    let most = 0
    let isOver = false
    const ended = follow.ended.finally(() => {
      isOver = true
    })
    await until(
      'the container has ended',
      async () => {
        // Not while one is being compressed: then there are two of it.
        const names = (await readdir(directory)).filter((name) => !name.endsWith('.tmp'))
        most = Math.max(most, new Set(names.map((name) => name.replace(/\.gz$/, ''))).size)
        return isOver
      },
      120_000,
      200,
    )
    expect(await ended).toBe(0)
    const followed = numbersIn(follow.output())
    expect(areInOrder(followed)).toBe(true)
    expect([followed[0], followed.at(-1)]).toEqual([1, lineCount])

    expect(most).toBe(maxFiles)
    const names = (await readdir(directory)).sort()
    expect(names).toHaveLength(maxFiles)
    expect(names[0]).toBe('0.log')
    expect(names[1]).toMatch(/^0\.log\.\d{8}-\d{6}\.gz$/)
    expect(names[2]).toMatch(/^0\.log\.\d{8}-\d{6}$/)
    const texts = await Promise.all(
      [names[1] ?? '', names[2] ?? '', '0.log'].map(async (name) => {
        const bytes = await readFile(join(directory, name))
        return String(name.endsWith('.gz') ? gunzipSync(bytes) : bytes)
      }),
    )
    const kept = texts.flatMap(numbersIn)
    expect(areInOrder(kept)).toBe(true)
    expect(kept.at(-1)).toBe(lineCount)
    expect((await node().ask('/metrics')).body).toMatch(
      /keelson_container_log_rotations_total\{outcome="rotated"\} [1-9]/,
    )
    await endPods(node(), 'chatty')
    expect(await node().leftovers()).toEqual([])
  })

  test('POD-121 a container puts a FIFO in place of its log: requests end, pods start, health is ok', async () => {
    await node().pod('evil', {
      volumes: [{ name: 'l', hostPath: { path: node().logs } }],
      containers: [
        shell(
          'app',
          `cd /l/*_evil-node-1_*/app && rm 0.log && mkfifo 0.log && echo done > /l/replaced; ${forever}`,
          {
            volumeMounts: [{ name: 'l', mountPath: '/l' }],
          },
        ),
      ],
    })
    await running(node(), 'evil')
    await until('it is replaced', async () => (await readdir(node().logs)).includes('replaced'))
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => node().ask('/containerLogs/default/evil-node-1/app')),
    )
    expect(answers.map((a) => a.status)).toEqual([404, 404, 404, 404, 404])
    await node().pod('after', { containers: [shell('app', forever)] })
    await running(node(), 'after')
    expect((await node().ask('/healthz')).status).toBe(200)
    await node().cri.runtime.stopContainer({ containerId: (await node().containers('evil'))[0]?.id ?? '' })
    await rm(join(node().logs, 'replaced'))
    await endPods(node(), 'evil', 'after')
    expect(await node().leftovers()).toEqual([])
  })
})

describe('a root directory behind a link', () => {
  const spec = (text: string): object => ({
    terminationGracePeriodSeconds: 1,
    volumes: [{ name: 'm', emptyDir: { medium: 'Memory' } }],
    containers: [
      shell('app', `echo ${text} > /m/said; ${forever}`, { volumeMounts: [{ name: 'm', mountPath: '/m' }] }),
    ],
  })
  const tmpfs = async (): Promise<readonly string[]> =>
    (await readFile('/proc/self/mountinfo', 'utf8'))
      .split('\n')
      .filter((line) => line.includes(node().directory) && line.includes('empty-dir'))
      .map((line) => line.split(' ')[4] ?? '')

  test('POD-122 memory volumes: no second tmpfs after a restart, an edited pod starts, a removed one leaves nothing', async () => {
    await node().pod('memory', { ...spec('one') })
    await running(node(), 'memory')
    const before = await tmpfs()
    expect(before).toHaveLength(1)
    const said = join(before[0] ?? '', 'said')
    expect(await readFile(said, 'utf8')).toBe('one\n')
    await node().stop()
    await node().start()
    await running(node(), 'memory')
    await until('the pod was looked at', async () => node().log().includes('adopting a running pod'))
    // A new container makes the kubelet look at the volumes again.
    await node().cri.runtime.stopContainer({ containerId: (await node().containers('memory'))[0]?.id ?? '' })
    await until(
      'it was restarted',
      async () => ((await node().podNamed('memory'))?.status.containerStatuses[0]?.restartCount ?? 0) === 1,
    )
    expect(await tmpfs()).toEqual(before)
    expect(await readFile(said, 'utf8')).toBe('one\n')

    const uid = (await node().podNamed('memory'))?.metadata.uid
    await node().pod('memory', { ...spec('two') })
    await until('the edited pod runs', async () => {
      const pod = await node().podNamed('memory')
      return pod?.metadata.uid !== uid && pod?.status.phase === 'Running'
    })
    await endPods(node(), 'memory')
    await until('nothing is left', async () => (await node().leftovers()).length === 0)
    expect(await tmpfs()).toEqual([])
  })
})
