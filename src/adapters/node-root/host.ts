// What preflight wants to know of the machine. Below another root only that root's own files say something.
import { execFile } from 'node:child_process'
import { access, readFile } from 'node:fs/promises'
import { hostname, release } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { HostFacts } from '../../ports/bootstrap.js'

const run = promisify(execFile)

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** Undefined: no kubelet is installed, or it does not say. */
async function kubeletVersion(): Promise<string | undefined> {
  try {
    const { stdout } = await run('kubelet', ['--version'], { timeout: 5_000, maxBuffer: 64 * 1024 })
    return /v\d+\.\d+\.\d+\S*/.exec(stdout)?.[0]
  } catch {
    return undefined
  }
}

export async function readHostFacts(root: string | undefined): Promise<HostFacts> {
  const os = process.platform === 'win32' ? 'windows' : 'linux'
  if (root !== undefined) {
    const named = await readFile(join(root, 'etc/hostname'), 'utf8').catch(() => '')
    return {
      os,
      hostname: named.trim().split('\n')[0] || hostname(),
      kernelRelease: undefined,
      cgroupV2: undefined,
      kubeletVersion: undefined,
      privileged: undefined,
    }
  }
  return {
    os,
    hostname: hostname(),
    kernelRelease: release(),
    cgroupV2: os === 'linux' ? await exists('/sys/fs/cgroup/cgroup.controllers') : undefined,
    kubeletVersion: await kubeletVersion(),
    privileged: process.getuid === undefined || process.getuid() === 0,
  }
}
