// A CRI server in front of a scripted runtime, on a node whose cgroups and /proc are files.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unifiedHierarchy } from '../../src/adapters/cgroups/hierarchy.js'
import { CgroupFsTree } from '../../src/adapters/cgroups/tree.js'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { createProcfs } from '../../src/adapters/procfs/procfs.js'
import type { ValuesMode } from '../../src/core/cri/values-mode.js'
import type { Scripts } from '../../src/fakes/cri/answers.js'
import { type FakeRuntime, startFakeRuntime } from '../../src/fakes/cri/fake-runtime.js'
import type { CgroupTree } from '../../src/ports/cgroups.js'
import type { Procfs } from '../../src/ports/procfs.js'
import type { CriClient } from '../../src/ports/runtime.js'
import { containersOf, type FixturePod, layOutNode, put, sandboxOf } from '../support/stats-fixture.js'
import { type ServerFixture, startServerFixture } from './server-fixture.js'

export interface ValuesFixture {
  readonly runtime: FakeRuntime
  readonly server: ServerFixture
  readonly client: CriClient
  /** Cgroup root on disk. */
  readonly root: string
  readonly cgroups: CgroupTree
  readonly procfs: Procfs
  close(): Promise<void>
}

export const runtimeNamed = (runtimeName: string, runtimeVersion: string): Scripts => ({
  Version: { value: { version: '0.1.0', runtimeName, runtimeVersion, runtimeApiVersion: 'v1' } },
})

export async function startValuesFixture(
  pods: readonly FixturePod[],
  scripts: Scripts = {},
  mode: 'complete' | 'observe' = 'complete',
  valuesMode: ValuesMode = 'repair',
): Promise<ValuesFixture> {
  const directory = mkdtempSync(join(tmpdir(), 'keelson-values-'))
  const { root, proc, sys } = layOutNode(directory, pods)
  put(join(root, 'cgroup.controllers'), 'cpuset cpu io memory hugetlb pids\n')
  const cgroups = new CgroupFsTree(unifiedHierarchy(root))
  const runtime = await startFakeRuntime({
    ...runtimeNamed('containerd', '2.1.0'),
    ListPodSandbox: { value: { items: pods.map(sandboxOf) } },
    ListContainers: { value: { containers: pods.flatMap(containersOf) } },
    Status: { value: {} },
    ...scripts,
  })
  const procfs = createProcfs({ proc, sys })
  const server = await startServerFixture(runtime.endpoint, {
    procfs,
    services: { cgroups, mode },
    valuesMode,
  })
  const client = createCriClient(server.endpoint)
  return {
    runtime,
    server,
    client,
    root,
    cgroups,
    procfs,
    async close() {
      client.close()
      await server.close()
      await runtime.close()
      cgroups.close()
      rmSync(directory, { recursive: true })
    },
  }
}
