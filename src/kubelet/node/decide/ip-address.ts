// Questions about IP addresses in text, as a node asks them. Only addresses: no prefix lengths, no zones.

const v4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/

export function ipFamily(text: string): 4 | 6 | undefined {
  if (v4.test(text)) return 4
  return groupsOf(text) === undefined ? undefined : 6
}

/** Eight numbers, or undefined where it is not IPv6. */
function groupsOf(text: string): readonly number[] | undefined {
  if (!/^[0-9a-fA-F:.]{2,45}$/.test(text) || !text.includes(':')) return undefined
  const dotted = /^(.*:)([\d.]+)$/.exec(text)
  const plain = dotted !== null && v4.test(dotted[2] ?? '') ? `${dotted[1]}${hexOf(dotted[2] ?? '')}` : text
  const halves = plain.split('::')
  if (halves.length > 2) return undefined
  const [head = [], tail = []] = halves.map((half) => (half === '' ? [] : half.split(':')))
  const missing = 8 - head.length - tail.length
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined
  const all = [...head, ...Array.from({ length: Math.max(missing, 0) }, () => '0'), ...tail]
  return all.every((g) => /^[0-9a-fA-F]{1,4}$/.test(g)) ? all.map((g) => Number.parseInt(g, 16)) : undefined
}

const hexOf = (dotted: string): string => {
  const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number)
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
}

export function isSameIp(a: string, b: string): boolean {
  if (a === b) return true
  const [x, y] = [groupsOf(a), groupsOf(b)]
  return x !== undefined && y !== undefined && x.join(':') === y.join(':')
}

/** Loopback, multicast, link-local and unspecified addresses reach no node. */
function isUnreachable(ip: string): string | undefined {
  const [first = 0, second = 0] = ip.split('.').map(Number)
  const groups = groupsOf(ip)
  if (groups === undefined) {
    if (first === 127) return 'a loopback address'
    if (first >= 224 && first < 240) return 'a multicast address'
    if (first === 169 && second === 254) return 'a link-local unicast address'
    return ip === '0.0.0.0' ? 'an all zeros address' : undefined
  }
  const sum = groups.reduce((a, b) => a + b, 0)
  if (sum === 0) return 'an all zeros address'
  if (sum === 1 && groups[7] === 1) return 'a loopback address'
  if (((groups[0] ?? 0) & 0xff00) === 0xff00) return 'a multicast address'
  return ((groups[0] ?? 0) & 0xffc0) === 0xfe80 ? 'a link-local unicast address' : undefined
}

/** Undefined: a node may have this address. */
export function nodeIpProblem(ip: string, ownAddresses: readonly string[]): string | undefined {
  if (ipFamily(ip) === undefined)
    return `nodeIP must be a valid IP address: ${JSON.stringify(ip.slice(0, 64))}`
  const unreachable = isUnreachable(ip)
  if (unreachable !== undefined) return `nodeIP can't be ${unreachable}`
  return ownAddresses.some((own) => isSameIp(own, ip))
    ? undefined
    : `node IP: ${JSON.stringify(ip)} not found in the host's network interfaces`
}
