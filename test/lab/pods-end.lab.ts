// The end of pods, and manifests that change, break and come back, on the host with a real containerd.
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { forever, shell, until } from '../kubelet/node.js'
import { endPods, running, stateOf, useNode } from '../kubelet/use-node.js'

const node = useNode({ keelsonConfig: 'staticPodResize: InPlace\n' })

const uidOf = async (name: string): Promise<string | undefined> => (await node().podNamed(name))?.metadata.uid

describe('grace', () => {
  test('POD-50 SIGTERM first, and the time that the pod asks for', async () => {
    const file = join(node().directory, 'said')
    await node().pod('polite', {
      terminationGracePeriodSeconds: 10,
      volumes: [{ name: 'f', hostPath: { path: file, type: 'FileOrCreate' } }],
      containers: [
        shell('app', 'trap "sleep 1; echo goodbye > /said; exit 0" TERM; while :; do sleep 0.1; done', {
          volumeMounts: [{ name: 'f', mountPath: '/said' }],
        }),
      ],
    })
    await running(node(), 'polite')
    const began = performance.now()
    await endPods(node(), 'polite')
    expect(await readFile(file, 'utf8')).toBe('goodbye\n')
    expect(performance.now() - began).toBeGreaterThan(1000)
    expect(performance.now() - began).toBeLessThan(8000)
  })

  test('POD-51 SIGKILL once the grace period is over', async () => {
    await node().pod('stubborn', {
      terminationGracePeriodSeconds: 2,
      containers: [shell('app', 'trap "" TERM; while :; do sleep 0.1; done')],
    })
    await running(node(), 'stubborn')
    const began = performance.now()
    await node().removeManifest('stubborn.yaml')
    await until('it ends', async () => (await node().podNamed('stubborn'))?.metadata.deletionTimestamp)
    await until('it has gone', async () => (await node().sandboxes('stubborn')).length === 0)
    const took = performance.now() - began
    expect(took).toBeGreaterThan(1900)
    expect(took).toBeLessThan(8000)
  })

  test('POD-52 no grace at all', async () => {
    await node().pod('atonce', {
      terminationGracePeriodSeconds: 0,
      containers: [shell('app', 'trap "" TERM; while :; do sleep 0.1; done')],
    })
    await running(node(), 'atonce')
    const began = performance.now()
    await endPods(node(), 'atonce')
    expect(performance.now() - began).toBeLessThan(3000)
    expect(await node().leftovers()).toEqual([])
  })
})

describe('manifests', () => {
  test('POD-53 an edit is a new pod, started when the old one has gone', async () => {
    await node().pod('edit', { containers: [shell('app', `echo one; ${forever}`)] })
    await running(node(), 'edit')
    const before = await uidOf('edit')
    await node().pod('edit', { containers: [shell('app', `echo two; ${forever}`)] })
    await until('the new pod runs', async () => {
      const pods = (await node().pods()).filter((p) => p.metadata.name === 'edit-node-1')
      return pods.length === 1 && pods[0]?.metadata.uid !== before && pods[0]?.status.phase === 'Running'
    })
    await until('it has spoken', async () => (await node().readLog('edit', 'app')) === 'two\n')
    const sandboxes = await node().sandboxes('edit')
    expect(sandboxes.map((s) => s.metadata?.uid)).not.toContain(before)
    await endPods(node(), 'edit')
    expect(await node().leftovers()).toEqual([])
  })

  test('POD-54 the same content written again changes nothing', async () => {
    await node().pod('same', { containers: [shell('app', forever)] })
    await running(node(), 'same')
    const [before] = await node().containers('same')
    await node().pod('same', { containers: [shell('app', forever)] })
    await sleep(1500)
    expect((await node().containers('same')).map((c) => c.id)).toEqual([before?.id])
    await endPods(node(), 'same')
  })

  test('POD-55 broken, unsupported and hidden files beside a good one: named, skipped, and the good one runs', async () => {
    await node().write('a-broken.yaml', 'kind: Pod\n  spec: [')
    await node().write('b-empty.yaml', '')
    await node().write(
      'c-probe.yaml',
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'probe' },
        spec: {
          hostNetwrk: true,
          containers: [
            shell('app', forever, {
              livenessProbe: { exec: {} },
              readinessProbe: { exec: { command: ['x'] } },
            }),
          ],
        },
      }),
    )
    await node().write(
      'd-service.yaml',
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec: {template: {spec: {containers: [{name: a, image: b}]}}}\n',
    )
    await node().write(
      '.hidden.yaml',
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'hidden' },
        spec: { containers: [shell('app', forever)] },
      }),
    )
    await node().pod('good', { containers: [shell('app', forever)] })
    await running(node(), 'good')
    expect((await node().pods()).map((p) => p.metadata.name)).toEqual(['good-node-1'])
    const log = node().log()
    for (const name of ['a-broken.yaml', 'b-empty.yaml', 'c-probe.yaml', 'd-service.yaml', '.hidden.yaml'])
      expect(log).toContain(name)
    expect(log).toContain('livenessProbe.exec.command: is empty')
    expect(log).toContain('hostNetwrk')
    for (const name of ['a-broken', 'b-empty', 'c-probe', 'd-service', '.hidden'])
      await node().removeManifest(`${name}.yaml`)
    await endPods(node(), 'good')
  })

  test('POD-56 a running pod survives an edit that breaks its manifest, and the mended one replaces it', async () => {
    await node().pod('breaks', { containers: [shell('app', forever)] })
    await running(node(), 'breaks')
    const before = await uidOf('breaks')
    await node().write('breaks.yaml', 'apiVersion: v1\nkind: Pod\nspec: {')
    await sleep(1500)
    expect((await node().sandboxes('breaks')).map((s) => [s.metadata?.uid, s.state])).toEqual([[before, 0]])
    await node().pod('breaks', { hostNetwork: true, containers: [shell('app', forever)] })
    await until(
      'the mended pod runs',
      async () =>
        (await uidOf('breaks')) !== before && (await node().podNamed('breaks'))?.status.phase === 'Running',
    )
    await endPods(node(), 'breaks')
  })

  test('POD-57 two files with one name: the first has it', async () => {
    const document = (command: string) =>
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'twin' },
        spec: { containers: [shell('app', `echo ${command}; ${forever}`)] },
      })
    await node().write('twin-a.yaml', document('first'))
    await node().write('twin-b.yaml', document('second'))
    await until(
      'the first runs',
      async () => (await node().ask('/containerLogs/default/twin-node-1/app')).body === 'first\n',
    )
    expect(await node().sandboxes('twin')).toHaveLength(1)
    await node().removeManifest('twin-a.yaml')
    await until(
      'the second follows',
      async () => (await node().ask('/containerLogs/default/twin-node-1/app')).body === 'second\n',
    )
    await node().removeManifest('twin-b.yaml')
    await until('both have gone', async () => (await node().pods()).length === 0)
  })

  test('POD-58 several pods in one file, and a file that is moved in whole', async () => {
    const pod = (name: string) =>
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name },
        spec: { containers: [shell('app', forever)] },
      })
    await writeFile(join(node().directory, 'many.yaml'), `${pod('one')}\n---\n${pod('two')}\n`)
    await rename(join(node().directory, 'many.yaml'), join(node().manifests, 'many.yaml'))
    await running(node(), 'one')
    await running(node(), 'two')
    await node().removeManifest('many.yaml')
    await until('both have gone', async () => (await node().pods()).length === 0)
  })

  test('POD-59 in place: other cpu and memory for a running container, no restart', async () => {
    const sized = (memory: string, cpu: string) => ({
      containers: [
        shell('app', forever, {
          resources: { requests: { cpu: '50m', memory: '16Mi' }, limits: { memory, cpu } },
        }),
      ],
    })
    await node().pod('resize', sized('64Mi', '200m'))
    await running(node(), 'resize')
    const [before] = await node().containers('resize')
    const uid = await uidOf('resize')
    const container = `${node().cgroupRoot}/kubepods/burstable/pod${uid}/${before?.id}`
    const read = (path: string): string =>
      new TextDecoder()
        .decode(
          node().cgroups.read(path, node().cgroups.version === 'v1' ? 'memory.limit_in_bytes' : 'memory.max'),
        )
        .trim()
    for (const [memory, cpu, bytes] of [
      ['128Mi', '400m', '134217728'],
      ['48Mi', '100m', '50331648'],
    ] as const) {
      await node().pod('resize', sized(memory, cpu))
      await until(
        `the limit is ${memory}`,
        () => read(container) === bytes && read(container.slice(0, container.lastIndexOf('/'))) === bytes,
      )
    }
    expect((await node().containers('resize')).map((c) => c.id)).toEqual([before?.id])
    expect(await uidOf('resize')).toBe(uid)
    expect((await stateOf(node(), 'resize', 'app'))?.restartCount).toBe(0)
    await endPods(node(), 'resize')
  })

  test('POD-60 in place: an edit of anything else is a new pod', async () => {
    const sized = (cpu: string, more: object) => ({
      ...more,
      containers: [shell('app', forever, { resources: { requests: { cpu } } })],
    })
    await node().pod('other', sized('50m', {}))
    await running(node(), 'other')
    const before = await uidOf('other')
    await node().pod('other', sized('60m', { hostname: 'x' }))
    await until('a new pod', async () => ![before, undefined].includes(await uidOf('other')))
    await endPods(node(), 'other')
  })
})

describe('a sandbox dies under its pod', () => {
  test('POD-61 its containers end, a new sandbox is made, and the app is restarted in it', async () => {
    await node().pod('sandbox', { terminationGracePeriodSeconds: 1, containers: [shell('app', forever)] })
    await running(node(), 'sandbox')
    const [old] = await node().sandboxes('sandbox')
    const { info } = await node().cri.runtime.podSandboxStatus({ podSandboxId: old?.id ?? '', verbose: true })
    const { pid } = JSON.parse(info.info ?? '{}') as { readonly pid: number }
    process.kill(pid, 'SIGKILL')
    await until('it runs again', async () => {
      const ready = (await node().sandboxes('sandbox')).filter((s) => s.state === 0)
      const status = await stateOf(node(), 'sandbox', 'app')
      return ready.length === 1 && ready[0]?.id !== old?.id && status?.state.running !== undefined
    })
    expect((await stateOf(node(), 'sandbox', 'app'))?.restartCount).toBe(1)
    expect((await node().sandboxes('sandbox')).map((s) => s.metadata?.attempt).sort()).toContain(1)
    await endPods(node(), 'sandbox')
    expect(await node().leftovers()).toEqual([])
  })

  test('POD-62 somebody removes the container: it is made again', async () => {
    await node().pod('stolen', { containers: [shell('app', forever)] })
    await running(node(), 'stolen')
    const [old] = await node().containers('stolen')
    await node().cri.runtime.stopContainer({ containerId: old?.id ?? '', timeout: 0n })
    await node().cri.runtime.removeContainer({ containerId: old?.id ?? '' })
    await until('another one runs', async () => {
      const [container] = (await node().containers('stolen')).filter((c) => c.state === 1)
      return container !== undefined && container.id !== old?.id
    })
    await endPods(node(), 'stolen')
  })

  test('POD-63 a pod of somebody else in the same runtime is left alone', async () => {
    const { podSandboxId } = await node().cri.runtime.runPodSandbox({
      config: {
        metadata: { name: 'theirs', uid: '11111111-2222-3333-4444-555555555555', namespace: 'x', attempt: 0 },
        hostname: 'theirs',
        labels: {
          'io.kubernetes.pod.name': 'theirs',
          'io.kubernetes.pod.namespace': 'x',
          'io.kubernetes.pod.uid': '11111111-2222-3333-4444-555555555555',
        },
        linux: {
          cgroupParent: `${node().cgroupRoot}/theirs`,
          securityContext: { namespaceOptions: { pid: 1 } },
        },
      },
    })
    await sleep(2500)
    const [sandbox] = (await node().cri.runtime.listPodSandbox({ filter: { id: podSandboxId } })).items
    expect(sandbox?.state).toBe(0)
    const { body } = await node().ask('/runningpods')
    expect(body).toContain('theirs')
    expect(await node().pods()).toEqual([])
    await node().cri.runtime.stopPodSandbox({ podSandboxId })
    await node().cri.runtime.removePodSandbox({ podSandboxId })
  })
})
