// The kubelet's unit and its running process. Below another root there is neither to stop nor to start.
import { execFile } from 'node:child_process'
import { access, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fail } from '../../core/errors.js'
import type { KubeletService } from '../../ports/bootstrap.js'

const run = promisify(execFile)
const unit = 'kubelet.service'
const timeoutMs = 60_000

async function hasUnit(): Promise<boolean> {
  try {
    await access('/run/systemd/system')
    await run('systemctl', ['cat', unit], { timeout: timeoutMs })
    return true
  } catch {
    return false
  }
}

async function systemctl(verb: 'stop' | 'start'): Promise<boolean> {
  if (!(await hasUnit())) return false
  try {
    await run('systemctl', [verb, unit], { timeout: timeoutMs })
    return true
  } catch (e) {
    const why = e instanceof Error ? e.message : String(e)
    throw fail(
      'systemd.failed',
      `systemctl ${verb} ${unit}: ${why}; see systemctl status ${unit}`,
      { verb },
      e,
    )
  }
}

async function runningArguments(proc: string): Promise<string[] | undefined> {
  const ids = (await readdir(proc).catch(() => [])).filter((n) => /^\d+$/.test(n))
  for (const id of ids) {
    const words = (await readFile(join(proc, id, 'cmdline'), 'utf8').catch(() => '')).split('\0')
    const [name = '', ...rest] = words.slice(0, -1)
    if (/(^|\/)kubelet$/.test(name)) return rest
  }
  return undefined
}

export const createKubeletService = (root: string | undefined): KubeletService => ({
  stop: async () => root === undefined && (await systemctl('stop')),
  start: async () => root === undefined && (await systemctl('start')),
  runningArguments: () => runningArguments(join(root ?? '/', 'proc')),
})
