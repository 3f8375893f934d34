// Whether credentials for `*.example.com:5000/team` are for an image: the registry part by part, the path as a prefix.

interface Place {
  readonly host: readonly string[]
  readonly port: string
  readonly path: string
}

function placeOf(text: string): Place {
  const slash = text.indexOf('/')
  const authority = slash < 0 ? text : text.slice(0, slash)
  const [, host = authority, port = ''] = /^(.*):(\d+)$/.exec(authority) ?? []
  return { host: host.split('.'), port, path: slash < 0 ? '' : text.slice(slash) }
}

/** Neither has a scheme. In a part of the registry's name `*` is any text without a dot, `?` any character. */
export function matchesImage(pattern: string, image: string): boolean {
  const wanted = placeOf(pattern)
  const found = placeOf(image)
  return (
    wanted.port === found.port &&
    wanted.host.length === found.host.length &&
    found.path.startsWith(wanted.path) &&
    wanted.host.every((part, i) => matchesPart(part, found.host[i] ?? ''))
  )
}

/** Linear in the length of the text: after a mismatch only the last `*` takes one character more. */
function matchesPart(pattern: string, text: string): boolean {
  let p = 0
  let t = 0
  let star = -1
  let starAt = 0
  while (t < text.length) {
    if (pattern[p] === '*') {
      star = p
      starAt = t
      p += 1
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === text[t])) {
      p += 1
      t += 1
    } else if (star >= 0) {
      p = star + 1
      starAt += 1
      t = starAt
    } else return false
  }
  while (pattern[p] === '*') p += 1
  return p === pattern.length
}
