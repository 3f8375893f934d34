// The life of pods on the host with a real containerd: order of init containers and sidecars, restart policies, back-off,
// images, and what the status says of all that.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { parseTime } from '../../src/core/units/rfc3339.js'
import { imageReferences } from '../../src/lab/images/images.js'
import { forever, shell, until } from '../kubelet/node.js'
import { endPods, running, stateOf, useNode } from '../kubelet/use-node.js'

const node = useNode()

/** Every container writes its steps into one file of the host. */
const journal = (name: string) => ({
  path: join(node().directory, `${name}.journal`),
  volumes: [
    { name: 'j', hostPath: { path: join(node().directory, `${name}.journal`), type: 'FileOrCreate' } },
  ],
  mount: { volumeMounts: [{ name: 'j', mountPath: '/journal' }] },
})
const note = (word: string): string => `echo ${word} >> /journal`
const lines = async (path: string): Promise<string[]> =>
  (await readFile(path, 'utf8').catch(() => '')).split('\n').filter((l) => l !== '')

describe('order', () => {
  test('POD-20 init containers run one after the other, before the app', async () => {
    const { path, volumes, mount } = journal('order')
    const step = (name: string) =>
      shell(name, `${note(`${name}-begins`)}; sleep 0.3; ${note(`${name}-ends`)}`, mount)
    await node().pod('order', {
      volumes,
      initContainers: [step('i1'), step('i2')],
      containers: [shell('app', `${note('app')}; ${forever}`, mount)],
    })
    const early = await until('the first init container runs', () =>
      stateOf(node(), 'order', 'i1').then((c) => c?.state.running !== undefined),
    )
    expect(early).toBe(true)
    const status = (await node().podNamed('order'))?.status
    expect(status?.phase).toBe('Pending')
    expect(status?.containerStatuses[0]?.state.waiting?.reason).toBe('PodInitializing')
    await running(node(), 'order')
    expect(await lines(path)).toEqual(['i1-begins', 'i1-ends', 'i2-begins', 'i2-ends', 'app'])
    await endPods(node(), 'order')
  })

  test('POD-21 a failed init container runs again until it ends well', async () => {
    const { path, volumes, mount } = journal('initfail')
    const twice = shell('i', `${note('try')}; [ $(wc -l < /journal) -ge 2 ]`, mount)
    await node().pod('initfail', {
      volumes,
      initContainers: [twice],
      containers: [shell('app', `${note('app')}; ${forever}`, mount)],
    })
    await running(node(), 'initfail')
    expect(await lines(path)).toEqual(['try', 'try', 'app'])
    expect((await stateOf(node(), 'initfail', 'i'))?.restartCount).toBe(1)
    await endPods(node(), 'initfail')
  })

  test('POD-22 restartPolicy Never: a failed init container fails the pod', async () => {
    await node().pod('initnever', {
      restartPolicy: 'Never',
      initContainers: [shell('i', 'exit 3')],
      containers: [shell('app', forever)],
    })
    await until('the pod fails', async () => (await node().podNamed('initnever'))?.status.phase === 'Failed')
    expect((await stateOf(node(), 'initnever', 'i'))?.state.terminated).toMatchObject({
      exitCode: 3,
      reason: 'Error',
    })
    expect((await node().containers('initnever')).map((c) => c.metadata?.name)).toEqual(['i'])
    await endPods(node(), 'initnever')
  })

  test('POD-23 sidecars start in their place and end last, in reverse', async () => {
    const { path, volumes, mount } = journal('side')
    const side = (name: string) =>
      shell(
        name,
        `trap "${note(`${name}-ends`)}; exit 0" TERM; ${note(`${name}-begins`)}; while :; do sleep 0.05; done`,
        { ...mount, restartPolicy: 'Always' },
      )
    const app = shell(
      'app',
      `trap "sleep 0.5; ${note('app-ends')}; exit 0" TERM; ${note('app-begins')}; while :; do sleep 0.05; done`,
      mount,
    )
    await node().pod('side', {
      volumes,
      initContainers: [side('s1'), shell('i', note('i'), mount), side('s2')],
      containers: [app],
    })
    await running(node(), 'side')
    await until('the app has begun', async () => (await lines(path)).includes('app-begins'))
    await endPods(node(), 'side')
    const seen = await lines(path)
    expect(seen.indexOf('s1-begins')).toBeLessThan(seen.indexOf('i'))
    expect(seen.indexOf('i')).toBeLessThan(seen.indexOf('s2-begins'))
    expect(seen.slice(-3)).toEqual(['app-ends', 's2-ends', 's1-ends'])
  })

  test('POD-24 a sidecar that ends comes back and the app goes on', async () => {
    const { path, volumes, mount } = journal('sideback')
    const side = shell('s', `${note('s')}; sleep 1; exit 1`, { ...mount, restartPolicy: 'Always' })
    await node().pod('sideback', {
      volumes,
      initContainers: [side],
      containers: [shell('app', `${note('app')}; ${forever}`, mount)],
    })
    await until(
      'the sidecar was restarted',
      async () => ((await stateOf(node(), 'sideback', 's'))?.restartCount ?? 0) >= 1,
    )
    expect((await stateOf(node(), 'sideback', 'app'))?.restartCount).toBe(0)
    expect((await lines(path)).filter((l) => l === 'app')).toHaveLength(1)
    await endPods(node(), 'sideback')
  })

  test('POD-25 restartPolicy Never: sidecars are ended when the app is done, and the pod has succeeded', async () => {
    const { path, volumes, mount } = journal('job')
    const side = shell(
      's',
      `trap "${note('s-ends')}; exit 0" TERM; ${note('s')}; while :; do sleep 0.05; done`,
      { ...mount, restartPolicy: 'Always' },
    )
    await node().pod('job', {
      restartPolicy: 'Never',
      volumes,
      initContainers: [side],
      containers: [shell('app', 'sleep 0.5; exit 0')],
    })
    await until('the pod has succeeded and its sandbox is stopped', async () => {
      const [sandbox] = await node().sandboxes('job')
      return (await node().podNamed('job'))?.status.phase === 'Succeeded' && sandbox?.state === 1
    })
    expect(await lines(path)).toEqual(['s', 's-ends'])
    await endPods(node(), 'job')
  })
})

describe('restart policies', () => {
  test('POD-30 Always: what ended well is started again', async () => {
    await node().pod('always', { containers: [shell('app', 'sleep 0.2; exit 0')] })
    await until('a restart', async () => ((await stateOf(node(), 'always', 'app'))?.restartCount ?? 0) >= 1)
    await endPods(node(), 'always')
  })

  test('POD-31 OnFailure: failures are started again, a good end is the end', async () => {
    const { volumes, mount } = journal('onfailure')
    const script = `${note('x')}; [ $(wc -l < /journal) -ge 2 ] && exit 0; exit 5`
    await node().pod('onfailure', {
      restartPolicy: 'OnFailure',
      volumes,
      containers: [shell('app', script, mount)],
    })
    await until(
      'the pod has succeeded',
      async () => (await node().podNamed('onfailure'))?.status.phase === 'Succeeded',
    )
    const status = await stateOf(node(), 'onfailure', 'app')
    expect(status).toMatchObject({
      restartCount: 1,
      state: { terminated: { exitCode: 0, reason: 'Completed' } },
      lastState: { terminated: { exitCode: 5, reason: 'Error' } },
    })
    await sleep(1500)
    expect((await stateOf(node(), 'onfailure', 'app'))?.restartCount).toBe(1)
    await endPods(node(), 'onfailure')
  })

  test('POD-32 Never: one run, whatever its end; cgroup and sandbox go, status and log stay', async () => {
    await node().pod('never', {
      restartPolicy: 'Never',
      containers: [shell('app', 'echo last words; exit 4')],
    })
    await until('the pod has failed and is released', async () => {
      const pod = await node().podNamed('never')
      const uid = pod?.metadata.uid ?? ''
      return (
        pod?.status.phase === 'Failed' &&
        !node().cgroups.exists(`${node().cgroupRoot}/kubepods/besteffort/pod${uid}`)
      )
    })
    expect(await node().readLog('never', 'app')).toBe('last words\n')
    expect((await node().sandboxes('never')).map((s) => s.state)).toEqual([1])
    await endPods(node(), 'never')
    expect(await node().leftovers()).toEqual([])
  })

  test('POD-33 crash loop: the second restart waits 10 s, the third 20 s', { timeout: 90_000 }, async () => {
    await node().pod('crash', { containers: [shell('app', 'exit 1')] })
    const waiting = await until('CrashLoopBackOff', async () => {
      const status = await stateOf(node(), 'crash', 'app')
      return status?.state.waiting?.reason === 'CrashLoopBackOff' ? status : undefined
    })
    expect(waiting.state.waiting?.message).toMatch(
      /^back-off 10s restarting failed container=app pod=crash-node-1_default\(/,
    )
    expect(waiting.restartCount).toBe(1)
    const ended = parseTime(waiting.lastState.terminated?.finishedAt ?? '') ?? 0n
    const second = await until(
      'the second restart',
      async () => {
        const status = await stateOf(node(), 'crash', 'app')
        return (status?.restartCount ?? 0) >= 2 ? status : undefined
      },
      30_000,
    )
    const { running: up, terminated: over } = second.state
    const started = parseTime((up ?? over ?? second.lastState.terminated)?.startedAt ?? '') ?? 0n
    expect(Number(started - ended) / 1e9).toBeGreaterThanOrEqual(9)
    expect(Number(started - ended) / 1e9).toBeLessThanOrEqual(13)
    const message = await until(
      'the next back-off',
      async () => (await stateOf(node(), 'crash', 'app'))?.state.waiting?.message,
    )
    expect(message).toMatch(/^back-off 20s/)
    expect((await node().containers('crash')).length).toBeLessThanOrEqual(2)
    await endPods(node(), 'crash')
  })

  test('POD-34 a container that takes more than its limit is OOMKilled', async () => {
    const app = {
      name: 'app',
      image: imageReferences.hog,
      args: ['128', '100'],
      resources: { limits: { memory: '32Mi' } },
    }
    await node().pod('oom', { restartPolicy: 'Never', containers: [app] })
    const status = await until('it is killed', async () => {
      const found = await stateOf(node(), 'oom', 'app')
      return found?.state.terminated === undefined ? undefined : found
    })
    expect(status.state.terminated).toMatchObject({ reason: 'OOMKilled', exitCode: 137 })
    await endPods(node(), 'oom')
  })

  test('POD-35 the termination message, and the log where there is none', async () => {
    await node().pod('message', {
      restartPolicy: 'Never',
      containers: [
        shell('a', 'echo said > /dev/termination-log; exit 1'),
        shell('b', 'echo logged; exit 1', { terminationMessagePolicy: 'FallbackToLogsOnError' }),
      ],
    })
    await until('both have ended', async () => (await node().podNamed('message'))?.status.phase === 'Failed')
    expect((await stateOf(node(), 'message', 'a'))?.state.terminated?.message).toBe('said\n')
    expect((await stateOf(node(), 'message', 'b'))?.state.terminated?.message).toBe('logged\n')
    await endPods(node(), 'message')
  })
})

describe('images and commands that do not work', () => {
  const waitingFor = (name: string, reason: string) =>
    until(
      `${name}: ${reason}`,
      async () => {
        const waiting = (await stateOf(node(), name, 'app'))?.state.waiting
        return waiting?.reason === reason ? waiting : undefined
      },
      30_000,
    )

  test('POD-40 ErrImagePull, then ImagePullBackOff; another pod is not held up', async () => {
    await node().pod('nopull', { containers: [{ name: 'app', image: '127.0.0.1:1/none:1' }] })
    expect((await waitingFor('nopull', 'ErrImagePull')).message).toContain('127.0.0.1:1')
    await node().pod('beside', { containers: [shell('app', forever)] })
    await running(node(), 'beside')
    expect((await waitingFor('nopull', 'ImagePullBackOff')).message).toContain('Back-off')
    await endPods(node(), 'nopull', 'beside')
  })

  test('POD-41 ErrImageNeverPull and InvalidImageName', async () => {
    await node().pod('neverpull', {
      containers: [{ name: 'app', image: 'example.com/none:1', imagePullPolicy: 'Never' }],
    })
    await node().pod('badname', { containers: [{ name: 'app', image: 'NOT AN IMAGE' }] })
    await waitingFor('neverpull', 'ErrImageNeverPull')
    await waitingFor('badname', 'InvalidImageName')
    await endPods(node(), 'neverpull', 'badname')
  })

  test('POD-42 a command that does not exist: the reason is said, the pod can be removed', async () => {
    await node().pod('nocommand', {
      containers: [{ name: 'app', image: imageReferences.busybox, command: ['/no/such'] }],
    })
    expect((await waitingFor('nocommand', 'RunContainerError')).message).toContain('/no/such')
    await endPods(node(), 'nocommand')
    expect(await node().leftovers()).toEqual([])
  })
})
