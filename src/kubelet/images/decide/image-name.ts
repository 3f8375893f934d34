// Image names as registries know them: the tag that is meant, and the repository with its registry.
import { imageTag, isImageReference } from '../../../core/pod/spec/image-reference.js'

/** Undefined: it is a name. Upstream's words. */
export const nameProblem = (image: string): string | undefined =>
  isImageReference(image)
    ? undefined
    : `couldn't parse image name ${JSON.stringify(image.slice(0, 200))}: invalid reference format`

/** `busybox` is `busybox:latest`; what has a tag or a digest stays as it is. */
export function withTag(image: string): string {
  const last = image.slice(image.lastIndexOf('/') + 1)
  return last.includes(':') || last.includes('@') ? image : `${image}:${imageTag(image)}`
}

/** `docker.io/library/busybox` of `busybox:1`: what credentials are looked up by. */
export function repositoryOf(image: string): string {
  const [name = ''] = image.split('@', 1)
  const slash = name.lastIndexOf('/')
  const colon = name.indexOf(':', slash + 1)
  const plain = colon < 0 ? name : name.slice(0, colon)
  const [first = '', ...rest] = plain.split('/')
  const hasRegistry = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost')
  if (!hasRegistry) return `docker.io/${rest.length === 0 ? 'library/' : ''}${plain}`
  if (first !== 'index.docker.io') return plain
  return `docker.io/${rest.join('/')}`
}
