// Looks up the facts that decide.ts decides on: the runtime's own RuntimeConfig, then Status, since it shows what is loaded;
// files where Status is silent.
import type { CgroupDriver } from '../../core/cgroup/name.js'
import { parseHandlerSettings } from '../../core/driver/evidence.js'
import { asKeelsonError, isKeelsonError } from '../../core/errors.js'
import { CgroupDriver as Driver } from '../../cri-api/api.js'
import type { Log } from '../../ports/log.js'
import type { Procfs } from '../../ports/procfs.js'
import type { CriClient } from '../../ports/runtime.js'
import { type DriverFinding, decideRuntimeDriver, type OwnAnswer } from './decide.js'
import { type RuntimeFilesOptions, type RuntimeKind, readRuntimeFiles, type Stated } from './runtime-files.js'
import { readSandboxCgroups } from './sandboxes.js'

interface DriverFinderOptions extends RuntimeFilesOptions {
  readonly client: Pick<CriClient, 'runtime' | 'socketPath'>
  readonly operator: CgroupDriver | undefined
  readonly procfs: Pick<Procfs, 'cgroupOf'>
  readonly cgroupVersion: 'v1' | 'v2'
  readonly log: Log
}

export type FindDriver = (signal: AbortSignal) => Promise<DriverFinding>

const timeoutMs = 5_000

export const createDriverFinder =
  (o: DriverFinderOptions): FindDriver =>
  async (signal) => {
    const [own, stated, sandboxes] = await Promise.all([
      readOwnAnswer(o, signal),
      readStated(o, signal),
      readSandboxCgroups({ ...o, ...o.client, signal }),
    ])
    return decideRuntimeDriver({
      own,
      operator: o.operator,
      stated: 'silent' in stated ? undefined : stated,
      silent: 'silent' in stated ? stated.silent : undefined,
      sandboxes: sandboxes ?? [],
    })
  }

const names: Partial<Record<Driver, CgroupDriver>> = {
  [Driver.SYSTEMD]: 'systemd',
  [Driver.CGROUPFS]: 'cgroupfs',
}

/** Undefined: the runtime has no RuntimeConfig. */
async function readOwnAnswer(o: DriverFinderOptions, signal: AbortSignal): Promise<OwnAnswer | undefined> {
  try {
    const { linux } = await o.client.runtime.runtimeConfig({}, { timeoutMs, signal })
    const driver = linux === undefined ? undefined : names[linux.cgroupDriver]
    return driver ?? { unusable: linux === undefined ? 'no driver' : `driver ${linux.cgroupDriver}` }
  } catch (e) {
    if (isKeelsonError(e) && e.code === 'runtime.unimplemented') return undefined
    return { unusable: asKeelsonError(e).message }
  }
}

async function readStated(o: DriverFinderOptions, signal: AbortSignal): Promise<Stated> {
  const options = { timeoutMs, signal }
  try {
    const { runtimeName } = await o.client.runtime.version({}, options)
    const { info } = await o.client.runtime.status({ verbose: true }, options)
    const handlers = parseHandlerSettings(info.config ?? '')
    if (handlers !== undefined) return { from: `Status of ${runtimeName}`, handlers, isAsLoaded: true }
    const kind = kindOf(runtimeName)
    if (kind === undefined && o.configFile === undefined)
      return {
        silent: `Status of ${runtimeName} shows no cgroup driver, and the path of its configuration file is unknown`,
      }
    return await readRuntimeFiles(o, kind ?? 'containerd', o.client.socketPath)
  } catch (e) {
    return { silent: `the runtime could not be asked: ${asKeelsonError(e).message}` }
  }
}

const kindOf = (runtimeName: string): RuntimeKind | undefined =>
  /cri-?o/i.test(runtimeName) ? 'crio' : runtimeName === 'containerd' ? 'containerd' : undefined
