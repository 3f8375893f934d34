// The started kubelet as `up` looks at it: pods over HTTPS, a login link where there is a page, memory files.
import { readCgroupLayout } from '../../adapters/cgroups/detect.js'
import { createCgroupTree } from '../../adapters/cgroups/tree.js'
import { readCountOrMax } from '../../core/cgroup/control-file.js'
import { isKeelsonError } from '../../core/errors.js'
import { parseFlatKeyed } from '../../core/kernel-text/flat-keyed.js'
import { formatAmount } from '../../doctor/format.js'
import type { CgroupTree } from '../../ports/cgroups.js'
import { containerIdOf } from '../../stats/cgroup/locator.js'
import type { KubeletView, MemoryValues, PodValues } from '../../up/up-ports.js'
import { createKubeletClient } from '../pods/kubelet-client.js'

export function openView(port: number, rootDir: string): KubeletView {
  const client = createKubeletClient({ server: `https://127.0.0.1:${port}`, rootDir })
  return {
    pods: () => client.pods(),
    async loginLink() {
      try {
        await client.get('/')
        const { path } = JSON.parse(await client.post('/login', 'application/json')) as { path?: string }
        return path
      } catch (e) {
        // This kubelet has no page to log in for.
        if (isKeelsonError(e)) return undefined
        throw e
      }
    },
  }
}

const podTrees = ['/kubepods', '/kubepods.slice']

function withTree<T>(look: (tree: CgroupTree) => T): T {
  const tree = createCgroupTree(readCgroupLayout())
  try {
    return look(tree)
  } finally {
    tree.close()
  }
}

const findBelow = (tree: CgroupTree, isIt: (name: string) => boolean): string | undefined =>
  podTrees.flatMap((root) => tree.walk(root)).find((p) => isIt(p.slice(p.lastIndexOf('/') + 1)))

export const readMemory = (containerId: string): MemoryValues | undefined =>
  withTree((tree) => {
    const path = findBelow(tree, (name) => containerIdOf(name) === containerId)
    if (path === undefined) return undefined
    const value = (file: string): string => {
      const amount = readCountOrMax(tree, path, file)
      return amount === undefined ? '-' : formatAmount(amount)
    }
    return { min: value('memory.min'), high: value('memory.high'), current: value('memory.current') }
  })

/** memory.events of a pod counts for its containers too, those that are gone included. */
export const readValues = (uid: string): PodValues | undefined =>
  withTree((tree) => {
    const names = [`pod${uid}`, `pod${uid.replaceAll('-', '_')}.slice`]
    const path = findBelow(tree, (name) => names.some((n) => name === n || name.endsWith(`-${n}`)))
    if (path === undefined) return undefined
    const count = (file: string, key: string): bigint =>
      parseFlatKeyed(tree.read(path, file) ?? new Uint8Array()).get(key) ?? 0n
    return {
      pageCache: count('memory.stat', 'file'),
      throttled: count('memory.events', 'high'),
      // A container that is killed as a whole counts its first process twice in oom_kill.
      oomKills: count('memory.events', 'oom_group_kill') || count('memory.events', 'oom_kill'),
    }
  })
