// The kubelet's unit and its running process, upstream's or ours. Below another root there is neither to stop nor to start.
import { execFile } from 'node:child_process'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { keelsonError, messageOf } from '../../core/errors.js'
import type { KubeletService, NodeServices } from '../../ports/bootstrap.js'
import { findKubeletProcess } from '../diagnosis/kubelet-process.js'

const run = promisify(execFile)
const upstreamUnit = 'kubelet.service'
const ownUnit = 'keelson-kubelet.service'
const timeoutMs = 60_000

async function hasUnit(unit: string): Promise<boolean> {
  try {
    await access('/run/systemd/system')
    await run('systemctl', ['cat', unit], { timeout: timeoutMs })
    return true
  } catch {
    return false
  }
}

async function systemctl(verb: 'stop' | 'start', unit: string): Promise<boolean> {
  if (!(await hasUnit(unit))) return false
  try {
    await run('systemctl', [verb, unit], { timeout: timeoutMs })
    return true
  } catch (e) {
    const why = messageOf(e)
    throw keelsonError(
      'systemd.failed',
      `systemctl ${verb} ${unit}: ${why}; see systemctl status ${unit}`,
      { verb },
      e,
    )
  }
}

export function createKubeletService(root: string | undefined, services: NodeServices): KubeletService {
  /** Ours where ours runs; what was stopped is what is started again. */
  let unit: string | undefined
  const unitNow = async (): Promise<string> =>
    (unit ??= (await services.isActive(ownUnit)) ? ownUnit : upstreamUnit)
  return {
    stop: async () => root === undefined && (await systemctl('stop', await unitNow())),
    start: async () => root === undefined && (await systemctl('start', await unitNow())),
    async restartIfActive() {
      if (!(await services.available())) return undefined
      for (const name of [ownUnit, upstreamUnit])
        if (await services.isActive(name)) {
          await services.restart(name)
          return name
        }
      return undefined
    },
    runningArguments: async () => (await findKubeletProcess(join(root ?? '/', 'proc')))?.args,
  }
}
