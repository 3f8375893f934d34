// Ports that die like a machine does: at the n-th change everything stops, a write perhaps in its middle, and
// nothing that follows has any effect.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ClusterObjects, NodeFiles, NodePorts } from '../../src/ports/bootstrap.js'

export class PowerCut extends Error {}

export interface DyingPorts {
  readonly ports: NodePorts
  /** Changes seen so far. */
  count(): number
}

/** Dies instead of change number `at` (from 0); `torn`: a write leaves half of its bytes. */
export function dyingPorts(ports: NodePorts, root: string, at: number, torn: boolean): DyingPorts {
  let count = 0
  let dead = false
  const change = async <T>(work: () => Promise<T>, half?: () => Promise<void>): Promise<T> => {
    if (dead) throw new PowerCut('no power')
    if (count++ === at) {
      dead = true
      if (torn) await half?.()
      throw new PowerCut(`power cut at change ${at}`)
    }
    return work()
  }
  const { files, cluster } = ports
  const dying: NodeFiles = {
    ...files,
    makeDirectory: (path, mode) => change(() => files.makeDirectory(path, mode)),
    write: (path, content, mode, owner) =>
      change(
        () => files.write(path, content, mode, owner),
        () => files.write(path, content.slice(0, Math.floor(content.length / 2)), mode),
      ),
    writeLink: (path, target) => change(() => files.writeLink(path, target)),
    rename: (from, to) => change(() => files.rename(from, to)),
    remove: (path) => change(() => files.remove(path)),
    removeEmptyDirectory: (path) => change(() => files.removeEmptyDirectory(path)),
    removeContents: (path) => change(() => files.removeContents(path)),
    async lock(path) {
      const release = await change(() => files.lock(path))
      return async () => {
        if (!dead) return release()
        // The holder is gone with the power: its lock names a process that no longer lives.
        await release()
        await writeFile(join(root, path), '4194399 0')
        throw new PowerCut('no power')
      }
    },
  }
  const dyingCluster: ClusterObjects | undefined = cluster && {
    ...cluster,
    writeConfigMap: (name, data) => change(() => cluster.writeConfigMap(name, data)),
    deleteConfigMap: (name) => change(() => cluster.deleteConfigMap(name)),
    annotateNode: (name, key, value) => change(() => cluster.annotateNode(name, key, value)),
  }
  return { ports: { ...ports, files: dying, cluster: dyingCluster }, count: () => count }
}
