// The hash in a container's annotation io.kubernetes.container.hash, as the upstream kubelet computes it: a node can change
// from one kubelet to the other and no container looks changed. Only name and image count.
import type { ContainerSpec } from '../../../core/pod/spec/spec.js'

/** FNV-1a, 32 bits, over the bytes of a small JSON text as Go prints a slice of bytes. */
export function containerHash({ image, name }: Pick<ContainerSpec, 'image' | 'name'>): string {
  const bytes = new TextEncoder().encode(goJson({ image, name }))
  const text = `([]uint8)[${bytes.join(' ')}]`
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash >>> 0).toString(16)
}

/** Go escapes these three in every JSON text. */
const goJson = (value: object): string =>
  JSON.stringify(value).replace(/[<>&]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
