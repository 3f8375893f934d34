// The companion's hold on this machine: the lock, the tree of the driver in use, the runtime, the notes on disk.
import { mkdirSync, readFileSync } from 'node:fs'
import { createCriClient } from '../../adapters/cri/client/client.js'
import { createFiles } from '../../adapters/files/files.js'
import { type Lock, takeLock } from '../../adapters/lock/lock.js'
import { takeOldName } from '../../adapters/lock/version-0-1.js'
import { createProcfs } from '../../adapters/procfs/procfs.js'
import { SystemdCgroupTree } from '../../adapters/systemd/cgroup-tree.js'
import { SystemdManager } from '../../adapters/systemd/manager.js'
import type { CgroupDriver } from '../../core/cgroup/name.js'
import { keelsonError } from '../../core/errors.js'
import { decideCompanionDriver } from '../../memory-qos/companion/node-input.js'
import type { KubeletSettings } from '../../memory-qos/decide/kubelet-settings.js'
import { type FoundAbout, type FoundValues, openFoundValues } from '../../memory-qos/found-values.js'
import type { CgroupTree } from '../../ports/cgroups.js'
import type { Procfs } from '../../ports/procfs.js'
import type { CriClient } from '../../ports/runtime.js'
import { openCgroupFiles } from '../cgroup-files.js'
import { type CompanionCommandOptions, defaultRuntimeEndpoint } from './options.js'

const callTimeoutMs = 30_000

interface OpenMachine {
  readonly cgroups: CgroupTree
  readonly client: CriClient
  readonly found: FoundValues
  readonly pageSize: bigint
  readonly timeoutMs: number
  readonly driver: CgroupDriver
  close(): Promise<void>
}

type MachineChoice = Pick<
  CompanionCommandOptions,
  'stateDir' | 'runtimeEndpoint' | 'cgroupMount' | 'procMount'
>

export const procfsOf = ({ procMount }: Pick<MachineChoice, 'procMount'>): Procfs =>
  createProcfs(procMount === undefined ? {} : { proc: procMount })

/** Takes the lock first: two companions, or one and a rollback, would undo each other. */
export async function openMachine(
  options: MachineChoice,
  settings: KubeletSettings | undefined,
): Promise<OpenMachine> {
  mkdirSync(options.stateDir, { recursive: true, mode: 0o700 })
  const lock = await lockMachine(options.stateDir)
  try {
    return await openLocked(options, settings, lock)
  } catch (e) {
    await lock.release()
    throw e
  }
}

async function lockMachine(stateDir: string): Promise<Lock> {
  const busy = (pid: number): Error =>
    keelsonError(
      'companion.busy',
      `use ${stateDir}: a companion or its rollback is running (process ${pid}); stop it first`,
      { pid },
    )
  const lock = await takeLock(`${stateDir}/companion.lock`, busy)
  try {
    const old = await takeOldName(`companion ${stateDir}`, busy)
    return {
      async release() {
        await old?.release()
        await lock.release()
      },
    }
  } catch (e) {
    await lock.release()
    throw e
  }
}

async function openLocked(
  options: MachineChoice,
  settings: KubeletSettings | undefined,
  lock: Lock,
): Promise<OpenMachine> {
  const pageSize = createProcfs().pageSize()
  const files = openCgroupFiles(options.cgroupMount)
  const open = (about?: FoundAbout): Promise<FoundValues> =>
    openFoundValues({
      files: createFiles(),
      path: `${options.stateDir}/found-values.json`,
      bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
      ...(about === undefined ? {} : { about }),
    })
  const before = await open()
  const given = options.runtimeEndpoint ?? settings?.containerRuntimeEndpoint
  const about: FoundAbout = {
    driver:
      settings === undefined
        ? (before.about?.driver ?? 'cgroupfs')
        : decideCompanionDriver(settings, (path) => files.exists(path)),
    runtimeEndpoint: given ?? before.about?.runtimeEndpoint ?? defaultRuntimeEndpoint,
  }
  const { driver } = about
  const systemd = driver === 'systemd' ? new SystemdManager() : undefined
  const cgroups = systemd === undefined ? files : new SystemdCgroupTree({ files, systemd, pageSize })
  const client = createCriClient(about.runtimeEndpoint, { timeoutMs: callTimeoutMs })
  const found = await open(about)
  return {
    cgroups,
    client,
    found,
    pageSize,
    timeoutMs: callTimeoutMs,
    driver,
    async close() {
      client.close()
      cgroups.close()
      await systemd?.close()
      await lock.release()
    },
  }
}

export const mountedRecursive = (): boolean =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .some((line) => line.includes(' - cgroup2 ') && line.includes('memory_recursiveprot'))
