// `keelson get`, `describe`, `logs` and `exec` as processes against a node on the host, and the endpoints behind them.
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { forever, shell, until } from '../kubelet/node.js'
import { endPods, running, useNode } from '../kubelet/use-node.js'
import { startCommand } from '../support/command.js'
import { requires } from '../support/requirements.js'
import { openWindow } from '../support/tmux-window.js'

const node = useNode()

/** The reach goes before `--`, which ends the options. */
async function keelson(
  ...words: readonly string[]
): Promise<{ readonly status: number | NodeJS.Signals | null; readonly text: string }> {
  const [command = '', ...rest] = words
  const run = startCommand([node().main, command, ...node().reach, ...rest])
  return { status: await run.ended, text: run.output() }
}

describe('commands', () => {
  test('POD-80 get pods: table, wide, name, json, yaml and one pod by its short name', async () => {
    await node().pod('web', {
      initContainers: [shell('s', forever, { restartPolicy: 'Always' })],
      containers: [shell('app', forever)],
    })
    await node().pod('bad', { containers: [shell('app', 'exit 1')] })
    await running(node(), 'web')
    await until('the other one loops', async () =>
      (await keelson('get', 'pods')).text.includes('CrashLoopBackOff'),
    )
    const table = (await keelson('get', 'pods')).text
    expect(table.split('\n')[0]).toMatch(/^NAMESPACE +NAME +READY +STATUS +RESTARTS +AGE$/)
    expect(table).toMatch(/default +web-node-1 +2\/2 +Running +0 +\d+s/)
    expect(table).toMatch(/default +bad-node-1 +0\/1 +CrashLoopBackOff +1 \(\d+s ago\)/)
    expect((await keelson('get', 'pods', '-o', 'wide')).text).toMatch(/10\.\d+\.\d+\.\d+ +node-1 +file/)
    expect((await keelson('get', 'pods', '-o', 'name')).text).toBe('pod/bad-node-1\npod/web-node-1\n')
    const list = JSON.parse((await keelson('get', 'pods', '-o', 'json')).text) as {
      readonly items: readonly unknown[]
    }
    expect(list.items).toHaveLength(2)
    expect(parse((await keelson('get', 'pod', 'web', '-o', 'yaml')).text)).toMatchObject({
      kind: 'Pod',
      status: { phase: 'Running' },
    })
    const missing = await keelson('get', 'pod', 'nobody')
    expect(missing.status).toBe(2)
    expect(missing.text).toContain(
      'pod nobody not found; pods on this node: bad-node-1, web-node-1 [pod.not-found]',
    )
    await endPods(node(), 'bad')
  })

  test('exec -it is a shell on this terminal: keys, the size of the window, and the exit status', async (ctx) => {
    requires(ctx, { commands: ['tmux'] })
    const words = [process.execPath, node().main, 'exec', ...node().reach, '-it', 'web', '--', 'sh']
    const window = openWindow(['sh', '-c', `${words.join(' ')}; echo status $?; sleep 60`], 100, 30)
    try {
      await window.shows(/#$/m)
      window.keys('stty size; echo $((6*7))', 'Enter')
      expect(await window.shows('42')).toContain('30 100')
      window.resize(120, 40)
      window.keys('clear; sleep 1; stty size', 'Enter')
      await window.shows('40 120')
      window.keys('exit 7', 'Enter')
      await window.shows('status 7')
    } finally {
      window.close()
    }
    const piped = await keelson('exec', '-it', 'web', '--', 'sh')
    expect(piped.text).toContain('not a terminal')
  })

  test('POD-81 get pods -w prints each change', async () => {
    const watch = startCommand([node().main, 'get', ...node().reach, 'pods', '-w'])
    await watch.says(/web-node-1.*Running/)
    await node().pod('seen', { terminationGracePeriodSeconds: 1, containers: [shell('app', forever)] })
    await watch.says(/seen-node-1 .*ContainerCreating|seen-node-1 .*Running/)
    await watch.says(/seen-node-1 .*Running/)
    await node().removeManifest('seen.yaml')
    await watch.end('SIGINT')
    await until('it has gone', async () => (await node().podNamed('seen')) === undefined)
  })

  test('POD-82 describe pod', async () => {
    const { text } = await keelson('describe', 'pod', 'web')
    expect(text).toMatch(/^Name: +web-node-1$/m)
    expect(text).toMatch(/^QoS Class: +BestEffort$/m)
    expect(text).toMatch(/^ {2}app:$/m)
    expect(text).toMatch(/State: +Running/)
    expect(text).toMatch(/Ready +True/)
  })

  test('POD-83 exec: output, both streams and the status of the command', async () => {
    const good = await keelson('exec', 'web', '--', 'sh', '-c', 'echo "a  b"; echo err >&2')
    expect(good).toEqual({ status: 0, text: 'a  b\nerr\n' })
    expect((await keelson('exec', 'web', '-c', 's', '--', 'sh', '-c', 'exit 7')).status).toBe(7)
    expect((await keelson('exec', 'web', '-c', 'none', '--', 'true')).text).toContain('has no container none')
    const plain = await node().ask('/run/default/web-node-1/app?cmd=echo%20hello', 'POST')
    expect([plain.status, plain.body]).toEqual([200, 'hello\n'])
    expect((await node().ask('/run/default/web-node-1/none?cmd=true', 'POST')).status).toBe(404)
    await endPods(node(), 'web')
  })

  test('POD-84 logs: whole, tail, since, timestamps, previous, bytes and both streams', async () => {
    await node().pod('talks', {
      containers: [
        shell(
          'app',
          `[ -f /data/x ] && echo second || echo first; for i in 1 2 3 4 5; do echo line$i; done; sleep 0.2; echo e >&2; touch /data/x; sleep 0.3; [ -f /never ] || exit 1`,
        ),
      ],
    })
    await until(
      'it was restarted',
      async () => ((await node().podNamed('talks'))?.status.containerStatuses[0]?.restartCount ?? 0) >= 1,
    )
    await until('it has said all', async () => (await node().readLog('talks', 'app')).includes('line5\ne\n'))
    const whole = (await keelson('logs', 'talks')).text
    expect(whole.replace(/^e\n/m, '')).toMatch(/^first\nline1\nline2\nline3\nline4\nline5\n/)
    expect(whole).toContain('e\n')
    expect((await keelson('logs', 'talks', '--tail', '2')).text.split('\n')).toHaveLength(3)
    expect((await keelson('logs', 'talks', '--tail', '0')).text).toBe('')
    expect((await keelson('logs', 'talks', '--previous')).text).toMatch(/^first\n/)
    expect((await keelson('logs', 'talks', '--timestamps', '--tail', '1')).text).toMatch(
      /^\d{4}-\d\d-\d\dT[\d:.]+Z /,
    )
    expect((await node().ask('/containerLogs/default/talks-node-1/app?limitBytes=8')).body).toBe('first\nli')
    expect(
      (await node().ask('/containerLogs/default/talks-node-1/app?sinceTime=2099-01-01T00:00:00Z')).body,
    ).toBe('')
    expect((await node().ask('/containerLogs/default/talks-node-1/app?tailLines=x')).status).toBe(400)
    expect((await node().ask('/containerLogs/default/talks-node-1/none')).status).toBe(404)
    await endPods(node(), 'talks')
  })

  test('POD-85 logs -f goes on until the container ends', async () => {
    await node().pod('goeson', {
      restartPolicy: 'Never',
      containers: [shell('app', 'for i in 1 2 3; do echo line$i; sleep 0.4; done')],
    })
    await until('it speaks', async () =>
      (await node().ask('/containerLogs/default/goeson-node-1/app')).body.includes('line1'),
    )
    const follow = startCommand([node().main, 'logs', ...node().reach, '-f', 'goeson'])
    expect(await follow.ended).toBe(0)
    expect(follow.output()).toBe('line1\nline2\nline3\n')
    await endPods(node(), 'goeson')
  })
})

describe('health and metrics', () => {
  test('POD-86 pleg and syncloop are healthy and counted', async () => {
    await sleep(1200)
    expect((await node().ask('/healthz/pleg')).body).toBe('ok')
    expect((await node().ask('/healthz/syncloop')).body).toBe('ok')
    const { body } = await node().ask('/metrics')
    for (const name of [
      'kubelet_pleg_relist_duration_seconds_count',
      'kubelet_pleg_relist_interval_seconds_count',
      'kubelet_pleg_last_seen_seconds',
      'kubelet_running_pods',
      'kubelet_running_containers',
      'kubelet_pod_worker_duration_seconds_count',
    ])
      expect(body).toContain(name)
  })
})
