// What critest is pointed at: Debian's containerd with our registry behind all names, and `keelson cri` in front of it as
// a process of its own. The same inside a machine and on the host.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type PrivateContainerd,
  type PrivateContainerdOptions,
  startPrivateContainerd,
} from '../../src/lab/containerd/start-containerd.js'
import { mustRun } from '../../src/lab/process.js'
import { type RunningCommand, startCommand } from '../../test/support/command.js'
import { formatHosts, packImages, type Registry, startRegistry } from '../images/registry.js'
import { testImages } from './image-list.js'
import { readImagePrograms } from './image-programs.js'

export interface Ground {
  readonly containerd: PrivateContainerd
  readonly direct: string
  readonly through: string
  readonly server: RunningCommand
  close(): Promise<void>
}

export interface GroundOptions {
  /** The bundle of the command line. */
  readonly main: string
  /** Directory of the programs that the images are made of. */
  readonly programs: string
  /** For the server's socket and the registry's configuration. */
  readonly dir: string
  readonly containerd: PrivateContainerdOptions
}

const SERVER_START_MS = 300_000 // node takes its time inside a machine

async function startImages(programs: string): Promise<Registry> {
  const list = (await mustRun([join(programs, 'busybox'), '--list'])).split('\n')
  const applets = list.filter((a) => a !== '' && a !== 'busybox')
  return await startRegistry(await packImages(testImages(await readImagePrograms(programs), applets)))
}

export async function prepareGround({
  main,
  programs,
  dir,
  containerd: options,
}: GroundOptions): Promise<Ground> {
  const closers: (() => Promise<unknown>)[] = []
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).reverse()) await closer()
  }
  try {
    const registry = await startImages(programs)
    closers.push(() => registry.close())
    const registries = join(dir, 'registries')
    await mkdir(join(registries, '_default'), { recursive: true })
    await writeFile(join(registries, '_default/hosts.toml'), formatHosts(registry.url))
    const containerd = await startPrivateContainerd({ ...options, registries })
    closers.push(() => containerd.close())
    const through = `unix://${join(dir, 'cri.sock')}`
    const server = startCommand([
      main,
      'cri',
      '--runtime-endpoint',
      containerd.endpoint,
      '--listen',
      through,
      '--port',
      '0',
    ])
    closers.push(() => server.end('SIGKILL'))
    await server.says('CRI server started', SERVER_START_MS)
    return { containerd, direct: containerd.endpoint, through, server, close }
  } catch (e) {
    await close()
    throw e
  }
}
