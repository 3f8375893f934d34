// Where scrapes are measured: 110 real pods that a kubelet started, and 500 pods of synthetic cgroups behind a scripted
// runtime.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readCgroupLayout } from '../../src/adapters/cgroups/detect.js'
import { hierarchyOf } from '../../src/adapters/cgroups/hierarchy.js'
import { CgroupFsTree } from '../../src/adapters/cgroups/tree.js'
import { startFakeRuntime } from '../../src/fakes/cri/fake-runtime.js'
import { PodNode, shell, until } from '../../test/kubelet/node.js'
import { compileSweep, LineProcess } from '../cgroup-sweep/floor.js'
import { benchPods, listed, makeCgroups } from './node.js'

const sleeps = 'trap "exit 0" TERM; while :; do sleep 1000 & wait $!; done'

/** They go on when the kubelet is stopped. */
export async function startRealPods(count: number): Promise<PodNode> {
  const node = await PodNode.create()
  try {
    await node.start()
    for (let i = 0; i < count; i++)
      await node.pod(`bench${i}`, {
        terminationGracePeriodSeconds: 1,
        containers: [
          shell('app', sleeps, {
            resources: { requests: { cpu: '10m' }, limits: { memory: '64Mi', cpu: '200m' } },
          }),
          shell('sidecar', sleeps),
        ],
      })
    await until(
      'all pods are ready',
      async () => {
        const ready = (await node.pods()).filter((pod) => pod.status.containerStatuses.every((c) => c.ready))
        return ready.length === count
      },
      600_000,
    )
    await node.stop()
    return node
  } catch (e) {
    await node.close()
    throw e
  }
}

export interface SyntheticNode {
  readonly endpoint: string
  readonly cgroupRoot: string
  close(): Promise<void>
}

export async function startSyntheticPods(count: number, signal: AbortSignal): Promise<SyntheticNode> {
  const hierarchy = hierarchyOf(readCgroupLayout())
  const tree = new CgroupFsTree(hierarchy)
  const cgroupRoot = `/keelson-scrape-${process.pid}`
  const folder = mkdtempSync(join(tmpdir(), 'keelson-scrape-'))
  const holder = new LineProcess(compileSweep(folder), ['hold'])
  const pods = benchPods(count)
  const { items, containers } = listed(pods)
  const runtime = await startFakeRuntime({
    Version: {
      value: { version: '0.1.0', runtimeName: 'scripted', runtimeVersion: '1', runtimeApiVersion: 'v1' },
    },
    Status: { value: {} },
    ListPodSandbox: { value: { items } },
    ListContainers: { value: { containers } },
  })
  const close = async (): Promise<void> => {
    await runtime.close()
    await holder.end()
    await tree.remove(cgroupRoot, { timeoutMs: 60_000 })
    tree.close()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await makeCgroups({ tree, hierarchy, holder, base: `${cgroupRoot}/kubepods` }, pods, signal)
  } catch (e) {
    await close()
    throw e
  }
  return { endpoint: runtime.endpoint, cgroupRoot, close }
}
