// Names of images by their ids. A kubelet creates containers from ids, and runtimes of older releases keep nothing else; who
// looks at a metric wants the name.
import type { Container, ImageSpec } from '../../cri-api/api.js'

interface ImageNames {
  /** The same containers; those that were created from an id have the name that people use for it. */
  resolve(containers: readonly Container[], signal: AbortSignal): Promise<readonly Container[]>
  forget(): void
}

const isId = (text: string): boolean => /^(sha256:)?[0-9a-f]{64}$/.test(text)

const idOf = ({ image }: Container): string | undefined =>
  image !== undefined && image.userSpecifiedImage === '' && isId(image.image) ? image.image : undefined

const named = (image: ImageSpec, name: string): ImageSpec => ({ ...image, userSpecifiedImage: name })

/** `ask`: the tags and digests of an image; it fails or has none where the image has gone. */
export function createImageNames(
  ask: (id: string, signal: AbortSignal) => Promise<readonly string[]>,
): ImageNames {
  const known = new Map<string, string>()
  return {
    async resolve(containers, signal) {
      const ids = new Set(containers.map(idOf).filter((id) => id !== undefined))
      for (const id of known.keys()) if (!ids.has(id)) known.delete(id)
      for (const id of ids)
        if (!known.has(id)) known.set(id, (await ask(id, signal).catch(() => []))[0] ?? id)
      if (ids.size === 0) return containers
      return containers.map((c) => {
        const name = known.get(idOf(c) ?? '')
        return c.image === undefined || name === undefined ? c : { ...c, image: named(c.image, name) }
      })
    },
    forget: () => known.clear(),
  }
}
