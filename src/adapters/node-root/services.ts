// systemd units of this machine, through systemctl. With --rootfs no systemd runs.
import { execFile } from 'node:child_process'
import { access } from 'node:fs/promises'
import { promisify } from 'node:util'
import { keelsonError } from '../../core/errors.js'
import type { NodeServices } from '../../ports/bootstrap.js'

const run = promisify(execFile)
const timeoutMs = 90_000

const systemctl = async (...args: string[]): Promise<string> =>
  (await run('systemctl', args, { timeout: timeoutMs })).stdout.trim()

/** For what must succeed. */
async function mustDo(...args: string[]): Promise<void> {
  try {
    await systemctl(...args)
  } catch (e) {
    const why = e instanceof Error ? e.message.trim().replaceAll('\n', ' ') : String(e)
    throw keelsonError('systemd.failed', `systemctl ${args.join(' ')}: ${why}`, { args }, e)
  }
}

const propertyOf = (unit: string, name: string): Promise<string> =>
  systemctl('show', '--property', name, '--value', unit).catch(() => '')

/** One that systemd starts again and again is on as well. */
const activeStates: readonly string[] = ['active', 'activating', 'reloading']

export const createNodeServices = (root: string | undefined): NodeServices => ({
  available: () =>
    root === undefined
      ? access('/run/systemd/system').then(
          () => true,
          () => false,
        )
      : Promise.resolve(false),
  reload: () => mustDo('daemon-reload'),
  isActive: async (unit) => activeStates.includes(await propertyOf(unit, 'ActiveState')),
  restart: (unit) => mustDo('restart', unit),
  async stop(unit) {
    if ((await propertyOf(unit, 'ActiveState')) !== 'inactive') await mustDo('stop', unit)
    // One that had failed would be listed as such even after its unit file is gone.
    await systemctl('reset-failed', unit).catch(() => '')
  },
})
