// Takes away what a node leaves in places that others share: sandboxes in a runtime that stays, and the pod cgroups.
import { readCgroupLayout } from '../../adapters/cgroups/detect.js'
import { createCgroupTree } from '../../adapters/cgroups/tree.js'
import { isKeelsonError } from '../../core/errors.js'
import { ownerMarks } from '../../kubelet/pods/decide/owner.js'
import type { CriClient } from '../../ports/runtime.js'

const timeoutMs = 10_000

/** Only those that our kubelet made: pods whose manifests are in the node's own directory. */
export async function removeSandboxes(client: CriClient, podsDir: string): Promise<void> {
  try {
    const { items } = await client.runtime.listPodSandbox({}, { timeoutMs })
    for (const { id, annotations } of items) {
      if (annotations[ownerMarks.manifest]?.startsWith(`${podsDir}/`) !== true) continue
      await client.runtime.stopPodSandbox({ podSandboxId: id }, { timeoutMs })
      await client.runtime.removePodSandbox({ podSandboxId: id }, { timeoutMs })
    }
  } catch (e) {
    // The runtime has gone, and its sandboxes are its own business now.
    if (!isKeelsonError(e)) throw e
  } finally {
    client.close()
  }
}

/** The kernel refuses to remove one that holds a process, so pods of other owners stay. */
export async function removePodCgroups(): Promise<void> {
  const tree = createCgroupTree(readCgroupLayout())
  try {
    if (tree.version === 'v2' && tree.exists('/kubepods')) await tree.remove('/kubepods')
  } catch (e) {
    if (!isKeelsonError(e)) throw e
  } finally {
    tree.close()
  }
}
