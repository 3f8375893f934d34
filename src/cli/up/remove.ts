// Takes away what a node leaves in places that others share: sandboxes in a runtime that stays, and the pod cgroups.
import { readCgroupLayout } from '../../adapters/cgroups/detect.js'
import { createCgroupTree } from '../../adapters/cgroups/tree.js'
import { readManifest } from '../../config/read-manifest.js'
import { isKeelsonError } from '../../core/errors.js'
import type { CriClient } from '../../ports/runtime.js'
import type { Manifest } from '../../up/node.js'

const timeoutMs = 10_000
/** Of the static pods that a file brought; the kubelet notes it on each sandbox. */
const sourceAnnotation = 'kubernetes.io/config.source'

/** Only those that our kubelet made: static pods whose names the manifests hold. */
export async function removeSandboxes(client: CriClient, manifests: readonly Manifest[]): Promise<void> {
  const names = manifests.flatMap(namesIn)
  try {
    const { items } = await client.runtime.listPodSandbox({}, { timeoutMs })
    for (const { id, annotations, metadata } of items) {
      const name = metadata?.name ?? ''
      if (annotations[sourceAnnotation] !== 'file') continue
      if (!names.some((n) => name.startsWith(`${n}-`))) continue
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

/** A manifest that nobody could read made no pod. */
export function namesIn({ file, text }: Pick<Manifest, 'file' | 'text'>): string[] {
  try {
    return readManifest({ path: file, bytes: new TextEncoder().encode(text) }).flatMap(({ content }) => {
      const { metadata } = (content ?? {}) as { readonly metadata?: { readonly name?: unknown } | null }
      return typeof metadata?.name === 'string' ? [metadata.name] : []
    })
  } catch (e) {
    if (!isKeelsonError(e)) throw e
    return []
  }
}

/** The kernel refuses to remove one that holds a process, so pods of somebody else stay. */
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
