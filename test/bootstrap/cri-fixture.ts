// A node with a service manager in memory, for `cri install`: what it is told is written down, and a started server
// listens at its socket below the node's root.
import { chown, lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createCriInstall, createCriUninstall } from '../../src/cli/cri/install.js'
import { wireNode } from '../../src/cli/node/wire.js'
import type { NodePorts } from '../../src/ports/bootstrap.js'
import { capture, type TestNode } from './fixture.js'

export const listen = 'unix:///run/keelson/cri.sock'
export const unitPath = '/etc/systemd/system/keelson-cri.service'
export const wantsPath = '/etc/systemd/system/multi-user.target.wants/keelson-cri.service'
export const crictlPath = '/etc/crictl.yaml'
export const recordPath = '/var/lib/keelson/use-socket-undo.json'

/** Everything below the root: kind, mode, owner, and content or target. */
export async function snapshot(node: TestNode): Promise<Record<string, string>> {
  const names = (await readdir(node.root, { recursive: true })).sort()
  const rows = await Promise.all(
    names.map(async (name) => {
      const path = join(node.root, name)
      const s = await lstat(path)
      const what = s.isSymbolicLink()
        ? `-> ${await readlink(path)}`
        : s.isFile()
          ? (await readFile(path)).toString('latin1')
          : s.isDirectory()
            ? 'directory'
            : 'socket'
      return [name, `${(s.mode & 0o7777).toString(8)} ${s.uid}:${s.gid} ${what}`] as const
    }),
  )
  return Object.fromEntries(rows.filter(([, text]) => !text.endsWith(' socket')))
}

export interface Manager {
  readonly calls: string[]
  readonly active: Set<string>
  /** Called before each; may throw. */
  before: (call: string) => void
  change(ports: NodePorts): NodePorts
}

/** `kubelet`: the unit that runs one; undefined: none does. */
export function createManager(node: TestNode, kubelet: string | undefined): Manager {
  const tell = (call: string): void => {
    manager.before(call)
    manager.calls.push(call)
  }
  const manager: Manager = {
    calls: [],
    active: new Set(kubelet === undefined ? [] : [kubelet]),
    before: () => undefined,
    change: (ports) => ({
      ...ports,
      host: async () => ({ ...(await ports.host()), privileged: true }),
      services: {
        available: async () => true,
        reload: async () => tell('reload'),
        isActive: async (unit) => manager.active.has(unit),
        async restart(unit) {
          tell(`restart ${unit}`)
          manager.active.add(unit)
          if (unit === 'keelson-cri.service') await node.listen(listen).catch(() => undefined)
        },
        async stop(unit) {
          tell(`stop ${unit}`)
          manager.active.delete(unit)
        },
      },
      kubelet: {
        ...ports.kubelet,
        async restartIfActive() {
          if (kubelet === undefined || !manager.active.has(kubelet)) return undefined
          tell(`restart ${kubelet}`)
          return kubelet
        },
      },
    }),
  }
  return manager
}

export interface CriResult {
  readonly error: Error | undefined
  readonly stdout: string
}

/** The command with some ports replaced. */
export async function runCri(
  node: TestNode,
  change: (ports: NodePorts) => NodePorts,
  name: 'install' | 'uninstall',
  ...args: string[]
): Promise<CriResult> {
  const { out, io } = capture()
  const load = async () => async (place: object) => change(await wireNode(place))
  const command = name === 'install' ? createCriInstall(io, load) : createCriUninstall(io, load)
  command.exitOverride().configureOutput({ writeErr: () => undefined })
  try {
    await command.parseAsync([...args, '--rootfs', node.root], { from: 'user' })
    return { error: undefined, stdout: out.stdout }
  } catch (e) {
    if (!(e instanceof Error)) throw e
    return { error: e, stdout: out.stdout }
  }
}

/** Owned by somebody else, where the test may do that. */
export const giveAway = (node: TestNode, path: string): Promise<void> =>
  process.getuid?.() === 0 ? chown(join(node.root, path), 1234, 1234) : Promise.resolve()
