// A D-Bus daemon of a test's own, on a socket in a temporary folder.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const config = (
  address: string,
): string => `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>${address}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>
`

export class PrivateBus {
  readonly address: string
  private daemon: ChildProcess | undefined

  private constructor(private readonly folder: string) {
    this.address = `unix:path=${join(folder, 'bus')}`
  }

  /** Undefined: dbus-daemon is not installed. */
  static async start(): Promise<PrivateBus | undefined> {
    const bus = new PrivateBus(mkdtempSync(join(tmpdir(), 'keelson-bus-')))
    writeFileSync(join(bus.folder, 'bus.conf'), config(bus.address))
    if (await bus.launch()) return bus
    rmSync(bus.folder, { recursive: true })
    return undefined
  }

  async launch(): Promise<boolean> {
    const args = [`--config-file=${join(this.folder, 'bus.conf')}`, '--nofork', '--print-address=1']
    const daemon = spawn('dbus-daemon', args, { stdio: ['ignore', 'pipe', 'ignore'] })
    const started = await Promise.race([
      once(daemon.stdout, 'data').then(() => true),
      once(daemon, 'error').then(() => false),
      once(daemon, 'exit').then(() => false),
    ])
    this.daemon = started ? daemon : undefined
    return started
  }

  /** The daemon dies; every connection ends. `launch` brings it back on the same address. */
  async kill(): Promise<void> {
    const daemon = this.daemon
    this.daemon = undefined
    if (daemon === undefined) return
    const exited = once(daemon, 'exit')
    daemon.kill('SIGKILL')
    await exited
    rmSync(join(this.folder, 'bus'), { force: true })
  }

  async close(): Promise<void> {
    await this.kill()
    rmSync(this.folder, { recursive: true, force: true })
  }
}
