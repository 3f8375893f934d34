// A sleeping process inside a real cgroup, for contract cases that need one.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { CgroupPath, CgroupTree } from '../../src/ports/cgroups.js'

export function startProcessIn(tree: CgroupTree) {
  return async (path: CgroupPath): Promise<{ readonly pid: number; end(): Promise<void> }> => {
    const child = spawn('sleep', ['60'], { stdio: 'ignore' })
    await once(child, 'spawn')
    const { pid } = child
    if (pid === undefined) throw new Error('sleep did not start')
    const ended = once(child, 'exit')
    try {
      tree.write(path, 'cgroup.procs', String(pid))
    } catch (error) {
      child.kill('SIGKILL')
      await ended
      throw error
    }
    return {
      pid,
      async end() {
        child.kill('SIGKILL')
        await ended
      },
    }
  }
}
