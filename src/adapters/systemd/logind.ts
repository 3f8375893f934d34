// systemd-logind over D-Bus. The lock is a file descriptor, which cannot be had over this D-Bus client: systemd-inhibit holds it, for
// as long as its standard input is open. When this process dies in whatever way, the lock goes with it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { keelsonError } from '../../core/errors.js'
import type { Logind, ShutdownLock } from '../../ports/systemd.js'
import { replaceFile } from '../files/replace.js'
import { Bus, type BusCall, type BusSignal } from './bus.js'
import { systemdError } from './errors.js'
import { fromVariant } from './values.js'

interface LogindOptions {
  /** D-Bus address. Default: the system bus. */
  readonly address?: string
  readonly configDirectory?: string
}

const timeoutMs = 10_000
const service = 'org.freedesktop.login1'
const path = '/org/freedesktop/login1'
const manager = 'org.freedesktop.login1.Manager'
const signalHangUp = 1

export function createLogind({
  address = 'unix:path=/run/dbus/system_bus_socket',
  configDirectory = '/etc/systemd/logind.conf.d',
}: LogindOptions = {}): Logind {
  const failed = (what: string, e: unknown): unknown => systemdError(what, address, e)

  /** A connection for one call: they are few, and far apart. */
  const call = async (what: string, request: BusCall, signal: AbortSignal): Promise<readonly unknown[]> => {
    try {
      const bus = await Bus.connect(address, { onSignal() {}, onEnd() {} }, { timeoutMs, signal })
      try {
        return await bus.call(request, { timeoutMs, signal })
      } finally {
        bus.close()
      }
    } catch (e) {
      throw failed(what, e)
    }
  }

  return {
    async inhibitDelayMs(signal) {
      const [value] = await call(
        'read InhibitDelayMaxUSec of logind',
        {
          destination: service,
          path,
          interface: 'org.freedesktop.DBus.Properties',
          member: 'Get',
          signature: 'ss',
          body: [manager, 'InhibitDelayMaxUSec'],
        },
        signal,
      )
      const microseconds = fromVariant(value)
      if (microseconds.type !== 't')
        throw keelsonError('systemd.failed', 'read InhibitDelayMaxUSec of logind: it is not a number')
      return Number(microseconds.value) / 1000
    },
    async setInhibitDelay(seconds, signal) {
      // On a machine without settings of its own the directory is missing.
      await mkdir(configDirectory, { recursive: true })
      // The name and place of upstream's file: after a change of kubelets the newer one counts.
      await replaceFile(
        `${configDirectory}/99-kubelet.conf`,
        `# Kubelet logind override\n[Login]\nInhibitDelayMaxSec=${seconds}\n`,
        { mode: 0o644 },
      )
      await call(
        'reload logind',
        {
          destination: 'org.freedesktop.systemd1',
          path: '/org/freedesktop/systemd1',
          interface: 'org.freedesktop.systemd1.Manager',
          member: 'KillUnit',
          signature: 'ssi',
          body: ['systemd-logind.service', 'all', signalHangUp],
        },
        signal,
      )
    },
    lockShutdown,
    async watchShutdown(onShutdown, { fromAnySender }, signal) {
      let end: () => void = () => {}
      const ended = new Promise<void>((resolve) => {
        end = resolve
      })
      try {
        const bus = await Bus.connect(
          address,
          { onSignal: (news) => take(news, onShutdown), onEnd: () => end() },
          { timeoutMs, signal },
        )
        signal.addEventListener('abort', () => bus.close(), { once: true })
        const sender = fromAnySender ? '' : `sender='${service}',`
        const rule = `type='signal',${sender}path='${path}',interface='${manager}',member='PrepareForShutdown'`
        const daemon = 'org.freedesktop.DBus'
        await bus.call(
          {
            destination: daemon,
            path: '/org/freedesktop/DBus',
            interface: daemon,
            member: 'AddMatch',
            signature: 's',
            body: [rule],
          },
          { timeoutMs, signal },
        )
        return { ended }
      } catch (e) {
        throw failed('watch for a shutdown of the machine', e)
      }
    },
  }
}

function take(
  { member, interface: of, body }: BusSignal,
  onShutdown: (isShuttingDown: boolean) => void,
): void {
  const [value] = body
  if (of === manager && member === 'PrepareForShutdown' && typeof value === 'boolean') onShutdown(value)
}

/** `cat` answers once the lock is there: systemd-inhibit starts it only then. */
async function lockShutdown(signal: AbortSignal): Promise<ShutdownLock> {
  const child = spawn(
    'systemd-inhibit',
    [
      '--what=shutdown',
      '--mode=delay',
      '--who=kubelet',
      '--why=Kubelet needs time to handle node shutdown',
      'cat',
    ],
    { stdio: ['pipe', 'pipe', 'pipe'] },
  )
  let said = ''
  child.stderr.on('data', (text: Buffer) => {
    said = `${said}${text.toString()}`.slice(-2000)
  })
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
    child.once('error', (e) => {
      said ||= e.message
      resolve()
    })
  })
  // A lock that is lost is noticed by its end, not by a broken pipe.
  child.stdin.on('error', () => {})
  child.stdin.write('locked\n')
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  const answered = once(child.stdout, 'data', { signal: limit }).then(
    () => true,
    () => false,
  )
  if (!(await Promise.race([answered, ended.then(() => false)]))) {
    child.kill('SIGKILL')
    throw keelsonError(
      'systemd.failed',
      `take a shutdown lock with systemd-inhibit: ${said.trim() || 'no answer'}; is systemd-logind running?`,
    )
  }
  return { ended, release: () => child.stdin.end() }
}
