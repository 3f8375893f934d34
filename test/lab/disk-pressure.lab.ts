// A node whose small disk is filled by images, dead containers, writable layers, emptyDirs and logs in turn: a real file system,
// a real containerd, a real API server with its controllers. Each time the node frees what is unused, evicts the pod that filled
// the disk only if that is not enough, and returns to normal by itself; nothing that is in use is lost.
import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { KubePod } from '../../src/core/kube/objects.js'
import { writeImageArchive } from '../../src/lab/images/archive.js'
import { busybox, forever, PodNode, shell } from '../kubelet/node.js'
import { type RealControlPlane, startRealControlPlane } from '../support/real-control-plane.js'
import { missingRequirement } from '../support/requirements.js'
import { mountSmallDisk, type SmallDisk } from '../support/small-disk.js'

const nodeName = 'node-1'
const namespace = '/api/v1/namespaces/default'
const needs = { root: true, packages: ['containerd', 'images'], commands: ['mkfs.ext4'] } as const
const taint = 'node.kubernetes.io/disk-pressure'

// 1,000 MiB, of which 300 must stay free. A threshold that was met is resolved with 30 MiB more than that.
const config = `evictionHard: {nodefs.available: 300Mi, imagefs.available: 300Mi}
evictionMinimumReclaim: {nodefs.available: 30Mi, imagefs.available: 30Mi}
evictionPressureTransitionPeriod: 15s
volumeStatsAggPeriod: 2s
nodeStatusUpdateFrequency: 2s
imageMinimumGCAge: 1s
imageGCHighThresholdPercent: 100
containerLogMaxSize: 2Gi
`

interface Event {
  readonly reason: string
  readonly type: string
  readonly message: string
  readonly involvedObject: { readonly kind: string; readonly name: string }
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> }
}

describe.skipIf(missingRequirement(needs) !== undefined)('a small disk', () => {
  let plane: RealControlPlane
  let disk: SmallDisk
  let node: PodNode

  beforeAll(async () => {
    plane = await startRealControlPlane()
    disk = mountSmallDisk(1000)
    vi.stubEnv('TMPDIR', disk.path)
    node = await PodNode.create({ config, keelsonConfig: 'metrics: {period: 1s}\n' })
    vi.unstubAllEnvs()
    // There before the kubelet starts: an image that it has only just found may be needed by a container in a moment.
    const archive = join(plane.directory, 'ballast.tar')
    for (const n of [1, 2, 3]) {
      const files = [{ path: 'ballast', data: randomBytes(90 * 1024 * 1024), mode: 0o644 }]
      const image = { reference: `keelson.local/ballast:${n}`, files, entrypoint: ['/ballast'] }
      await writeImageArchive(archive, [image])
      await node.containerd.importImages(archive)
      await rm(archive)
    }
    const account = () => plane.client.getObject(`${namespace}/serviceaccounts/default`)
    await vi.waitUntil(async () => (await account()) !== undefined, { timeout: 60_000, interval: 200 })
    const kubeconfig = await plane.issueNodeKubeconfig(nodeName)
    await node.start([`--kubeconfig=${kubeconfig}`, '--kubernetes-version=1.37.1', '--profile=upstream'])
  }, 240_000)
  afterAll(async () => {
    await node?.close()
    disk?.remove()
    await plane?.close()
  })

  const create = (name: string, spec: object): Promise<void> =>
    plane.client.create(`${namespace}/pods`, {
      metadata: { name },
      spec: {
        nodeName,
        hostNetwork: true,
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 1,
        automountServiceAccountToken: false,
        ...spec,
      },
    })
  /** Uses less than it asked for: it makes the disk short, and is not to blame. */
  const fillLayer = (mib: number): object => {
    const resources = { requests: { 'ephemeral-storage': '400Mi' } }
    return {
      containers: [shell('app', `dd if=/dev/zero of=/file bs=1M count=${mib}; ${forever}`, { resources })],
    }
  }
  const remove = async (...names: readonly string[]): Promise<void> => {
    for (const name of names) {
      await plane.client.remove(`${namespace}/pods/${name}`)
      await expect.poll(() => pod(name), { timeout: 60_000 }).toBeUndefined()
    }
  }
  const pod = (name: string) => plane.client.getObject<KubePod>(`${namespace}/pods/${name}`)
  const phase = (name: string, wanted: string) =>
    expect
      .poll(async () => (await pod(name))?.status?.phase, { timeout: 120_000, interval: 500 })
      .toBe(wanted)
  const events = async (name: string): Promise<readonly Event[]> =>
    ((await plane.client.getObject<{ items: readonly Event[] }>(`${namespace}/events`))?.items ?? []).filter(
      (e) => e.involvedObject.name === name,
    )

  const condition = async () =>
    (await plane.node(nodeName))?.status?.conditions?.find((c) => c.type === 'DiskPressure')
  const isTainted = async (): Promise<boolean> =>
    JSON.stringify((await plane.node(nodeName))?.spec ?? {}).includes(taint)
  const pressure = async (status: 'True' | 'False'): Promise<void> => {
    const within = { timeout: 120_000, interval: 500 }
    await expect.poll(async () => (await condition())?.status, within).toBe(status)
    expect((await condition())?.reason).toBe(
      status === 'True' ? 'KubeletHasDiskPressure' : 'KubeletHasNoDiskPressure',
    )
    await expect.poll(isTainted, within).toBe(status === 'True')
  }
  const images = async (): Promise<readonly string[]> =>
    (await node.cri.image.listImages({})).images.flatMap((image) => image.repoTags)

  /** What must hold after every scene: the pod that did nothing runs as before, with its files and its image. */
  async function nothingLost(): Promise<void> {
    await pressure('False')
    const status = (await pod('innocent'))?.status
    expect(status).toMatchObject({ phase: 'Running', containerStatuses: [{ restartCount: 0, ready: true }] })
    expect(await images()).toContain(busybox)
    expect((await events('innocent')).map((e) => e.reason)).not.toContain('Evicted')
  }

  test('a node with a pod that lives through all of it', { timeout: 120_000 }, async () => {
    await plane.becomes(nodeName, 'True')
    // Lives through all of it. It asked for more than it uses, and so nothing of it is in excess.
    await create('innocent', {
      volumes: [{ name: 'data', emptyDir: {} }],
      containers: [
        shell('app', `dd if=/dev/urandom of=/data/file bs=1M count=20; ${forever}`, {
          volumeMounts: [{ name: 'data', mountPath: '/data' }],
          resources: { requests: { 'ephemeral-storage': '100Mi' } },
        }),
      ],
    })
    await phase('innocent', 'Running')
  })

  test('images: those that no pod uses go, and no pod', { timeout: 300_000 }, async () => {
    expect((await images()).filter((name) => name.includes('ballast'))).toHaveLength(3)
    await create('trigger', fillLayer(120))
    await pressure('True')
    await expect.poll(async () => (await images()).filter((name) => name.includes('ballast'))).toEqual([])
    await nothingLost()
    expect((await events(nodeName)).map((e) => `${e.reason}: ${e.message}`)).toContain(
      'EvictionThresholdMet: Attempting to reclaim ephemeral-storage',
    )
    expect(node.log()).toContain('the node has enough of the resource again, without evicting a pod')
    expect(node.log()).not.toContain('"evicting a pod"')
    await remove('trigger')
  })

  test('dead containers: the layer of a pod that has finished goes, its status stays', {
    timeout: 300_000,
  }, async () => {
    await create('finished', { containers: [shell('app', 'dd if=/dev/zero of=/ballast bs=1M count=480')] })
    await phase('finished', 'Succeeded')
    await create('trigger', fillLayer(190))
    await pressure('True')
    await nothingLost()
    expect((await pod('finished'))?.status).toMatchObject({
      phase: 'Succeeded',
      containerStatuses: [{ state: { terminated: { exitCode: 0, reason: 'Completed' } } }],
    })
    expect((await node.containers()).map((c) => c.labels['io.kubernetes.pod.name'])).not.toContain('finished')
    expect((await pod('trigger'))?.status?.phase).toBe('Running')
    expect(node.log()).not.toContain('"evicting a pod"')
    await remove('finished', 'trigger')
  })

  // A MiB at a time, so that the disk is never full for the others.
  const slowly = (step: string): string => `i=0; while :; do ${step}; i=$((i+1)); sleep 0.02; done`
  const mounted = { volumeMounts: [{ name: 'data', mountPath: '/data' }] }
  for (const [name, spec] of [
    [
      'writable-layer',
      { containers: [shell('app', slowly('dd if=/dev/zero of=/file$i bs=1M count=1 2> /dev/null'))] },
    ],
    [
      'empty-dir',
      {
        volumes: [{ name: 'data', emptyDir: {} }],
        containers: [
          shell('app', slowly('dd if=/dev/zero of=/data/file$i bs=1M count=1 2> /dev/null'), mounted),
        ],
      },
    ],
    [
      'logs',
      { containers: [shell('app', slowly("dd if=/dev/zero bs=1M count=1 2> /dev/null | tr '\\0' x"))] },
    ],
  ] as const)
    test(`${name}: the pod that fills the disk is evicted, and the node is as before`, {
      timeout: 300_000,
    }, async () => {
      await create(name, spec)
      await pressure('True')
      await phase(name, 'Failed')
      const status = (await pod(name))?.status
      expect(status).toMatchObject({
        reason: 'Evicted',
        conditions: expect.arrayContaining([
          expect.objectContaining({
            type: 'DisruptionTarget',
            status: 'True',
            reason: 'TerminationByKubelet',
          }),
        ]),
      })
      const message = String((status as { message?: string } | undefined)?.message)
      expect(message).toMatch(
        /^The node was low on resource: ephemeral-storage\. Threshold quantity: 300Mi, available: \d+Ki\. Container app was using \d+\w*, request is 0, has larger consumption of ephemeral-storage\. $/,
      )
      const evicted = (await events(name)).find((e) => e.reason === 'Evicted')
      expect(evicted).toMatchObject({
        type: 'Warning',
        message,
        metadata: { annotations: { starved_resource: 'ephemeral-storage', offending_containers: 'app' } },
      })
      await nothingLost()
      await remove(name)
    })
})
