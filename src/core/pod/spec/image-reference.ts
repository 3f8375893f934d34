// Image names as far as a node must understand them: whether a name can be one at all, and which tag it asks for.

const component = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const domain =
  '(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?'
const reference = new RegExp(
  `^(?:${domain}/)?${component}(?:/${component})*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`,
)

const maxLength = 4096

/** Bounded before it is matched: nothing of unlimited length meets a regular expression. */
export const isImageReference = (image: string): boolean => image.length <= maxLength && reference.test(image)

/** `latest` is what a name without a tag means, unless a digest pins it. */
export function imageTag(image: string): string | undefined {
  if (image.includes('@')) return undefined
  const last = image.slice(image.lastIndexOf('/') + 1)
  const colon = last.indexOf(':')
  return colon < 0 ? 'latest' : last.slice(colon + 1)
}

/** As API defaulting does it: what may move is pulled each time. */
export const defaultPull = (image: string): 'Always' | 'IfNotPresent' =>
  imageTag(image) === 'latest' ? 'Always' : 'IfNotPresent'
