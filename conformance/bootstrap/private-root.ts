// A directory that stands for a node's root file system. kubeadm is put into it with its own --rootfs (chroot),
// Keelson with the flag of the same name; neither can reach the host's files.
import { existsSync } from 'node:fs'
import { lstat, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import { kubeletDirectory, type NodeState } from './scenario.js'

export interface PrivateRoot {
  readonly path: string
  /** Host path of a path inside the root. */
  inside(path: string): string
  write(path: string, text: string): Promise<void>
  listen(endpoint: string): Promise<void>
  readState(): Promise<Pick<NodeState, 'files' | 'modes' | 'backups' | 'kubernetesFiles'>>
  close(): Promise<void>
}

export async function createPrivateRoot(path: string): Promise<PrivateRoot> {
  const inside = (p: string) => join(path, p)
  const servers: Server[] = []
  for (const dir of ['etc/kubernetes', 'var/lib', 'var/run', 'run', 'tmp', 'proc', 'dev'])
    await mkdir(join(path, dir), { recursive: true })
  // kubeadm reset reads its mounts here; an empty table keeps it from touching the host's.
  await writeFile(join(path, 'proc/mounts'), '')
  const root: PrivateRoot = {
    path,
    inside,
    async write(file, text) {
      await mkdir(dirname(inside(file)), { recursive: true })
      await writeFile(inside(file), text)
    },
    async listen(endpoint) {
      const socket = inside(endpoint.replace(/^unix:\/\//, ''))
      await mkdir(dirname(socket), { recursive: true })
      const server = createServer((connection) => connection.on('error', () => {}).destroy())
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject).listen(socket, resolve)
      })
      servers.push(server)
    },
    async readState() {
      const files: Record<string, string> = {}
      const modes: Record<string, string> = {}
      for (const file of await filesBelow(inside(kubeletDirectory))) {
        const name = file.slice(path.length)
        files[name] = await readFile(file, 'utf8')
        modes[name] = ((await lstat(file)).mode & 0o7777).toString(8)
      }
      if (existsSync(inside(kubeletDirectory)))
        modes[kubeletDirectory] = ((await lstat(inside(kubeletDirectory))).mode & 0o7777).toString(8)
      const others = await filesBelow(inside('/etc/kubernetes'))
      const isBackup = (file: string) => file.startsWith(inside('/etc/kubernetes/tmp/'))
      const backups = others.filter((f) => isBackup(f) && f.endsWith('/config.yaml'))
      return {
        files,
        modes,
        backups: await Promise.all(backups.map((f) => readFile(f, 'utf8'))),
        kubernetesFiles: others.filter((f) => !isBackup(f)).map((f) => f.slice(path.length)),
      }
    },
    async close() {
      for (const server of servers) {
        await new Promise<void>((resolve) => {
          server.close(() => resolve())
        })
      }
      await rm(path, { recursive: true, force: true })
    },
  }
  return root
}

async function filesBelow(directory: string): Promise<string[]> {
  if (!existsSync(directory)) return []
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  return entries
    .filter((e) => e.isFile())
    .map((e) => join(e.parentPath, e.name))
    .sort()
}
