// The started kubelet as `up` looks at it: pods over HTTPS, a login link where there is a page, memory files.
import { readCgroupLayout } from '../../adapters/cgroups/detect.js'
import { createCgroupTree } from '../../adapters/cgroups/tree.js'
import { isKeelsonError } from '../../core/errors.js'
import { parseCountOrMax } from '../../core/kernel-text/digits.js'
import { formatAmount } from '../../doctor/format.js'
import { containerIdOf } from '../../stats/cgroup-locator.js'
import type { KubeletView, MemoryValues } from '../../up/ports.js'
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

export function readMemory(containerId: string): MemoryValues | undefined {
  const tree = createCgroupTree(readCgroupLayout())
  try {
    const path = ['/kubepods', '/kubepods.slice']
      .flatMap((root) => tree.walk(root))
      .find((p) => containerIdOf(p.slice(p.lastIndexOf('/') + 1)) === containerId)
    if (path === undefined) return undefined
    const value = (file: string): string => {
      const text = tree.read(path, file)
      const amount = text === undefined ? undefined : parseCountOrMax(text)
      return amount === undefined ? '-' : formatAmount(amount)
    }
    return { min: value('memory.min'), high: value('memory.high'), current: value('memory.current') }
  } finally {
    tree.close()
  }
}
