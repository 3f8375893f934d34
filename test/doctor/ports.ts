// The doctor's ports on a scripted runtime, a cgroup tree in memory and captured kernel files.
import { join } from 'node:path'
import { createClock } from '../../src/adapters/clock/clock.js'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { createProcfs } from '../../src/adapters/procfs/procfs.js'
import type { DoctorPorts } from '../../src/doctor/doctor-ports.js'
import type { FakeCgroupTree } from '../../src/fakes/cgroup-tree.js'
import { FakeLog } from '../../src/fakes/log.js'
import { askOnce, readAnswer } from '../../src/kubelet/driver/discover-driver.js'
import { gatherEvidence } from '../../src/kubelet/driver/gather-evidence.js'
import { cluster, endpoint, healthy, kubelet } from './healthy.js'

export interface FakePortsOptions {
  readonly cgroups: FakeCgroupTree
  readonly endpoint?: string
  /** pid -> cgroup path, for the proof of the driver. */
  readonly processes?: ReadonlyMap<number, string>
}

export interface FakePorts extends DoctorPorts {
  readonly modes: { readonly path: string; readonly mode: number }[]
}

export function fakePorts(options: FakePortsOptions): FakePorts {
  const proc = join(import.meta.dirname, '../fixtures/procfs/uml-6.1-v2/proc')
  const { sockets, host, kubelet: sound } = healthy()
  if (sockets === undefined) throw new Error('the sound node has sockets')
  const wins = { ...sockets.wins, endpoint: options.endpoint ?? endpoint }
  const modes: { path: string; mode: number }[] = []
  const procfs = {
    ...createProcfs({ proc }),
    pageSize: () => 4096n,
    cgroupOf: (pid: number) => {
      const unified = options.processes?.get(pid)
      return unified === undefined ? undefined : { unified, controllers: new Map<string, string>() }
    },
  }
  return {
    modes,
    procfs,
    hostname: () => 'node-1',
    askCluster: async () => cluster(),
    clock: createClock(),
    hasSystemd: () => false,
    openCgroups: () => options.cgroups,
    sockets: async () => ({ ...sockets, wins, host, staleFlag: undefined }),
    findConfig: async () => ({ loaded: sound.loaded, source: sound.source, unreadable: undefined }),
    connect: (where, timeoutMs) => createCriClient(where, { timeoutMs }),
    askDriver: async (client, timeoutMs, signal) => readAnswer(await askOnce({ client, timeoutMs, signal })),
    gatherEvidence: (client, cgroups, cgroupRoot, signal) =>
      gatherEvidence({ runtime: client.runtime, procfs, cgroups, cgroupRoot, log: new FakeLog(), signal }),
    diagnosis: {
      kubeletProcess: async () => undefined,
      ask: async (q) => ({
        ...q,
        answer: q.what === 'kubelet' ? 401 : q.what === 'healthz' ? 200 : 'closed',
      }),
      fileModes: async () => kubelet().files,
      changeMode: async (path, mode) => void modes.push({ path, mode }),
    },
  }
}
