// Durations as Kubernetes writes them (`2m0s`, `1.5h`, `100ms`): text to exact nanoseconds and back.

const unitNanos: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
}

const maxNanos = 2n ** 63n - 1n
const part = /(\d{0,40})(?:\.(\d{0,40}))?(ns|us|µs|μs|ms|s|m|h)/y

/** Undefined for anything that Go would refuse, a unit left out included: `30` is no duration. */
export function parseGoDuration(text: string): bigint | undefined {
  const sign = text.startsWith('-') ? -1n : 1n
  const body = text.replace(/^[+-]/, '')
  if (body === '0') return 0n
  if (body === '' || body.length > 128) return undefined
  let total = 0n
  part.lastIndex = 0
  while (part.lastIndex < body.length) {
    const found = part.exec(body)
    if (found === null) return undefined
    const [, whole = '', fraction = '', unit = ''] = found
    const scale = unitNanos[unit]
    if (scale === undefined || whole + fraction === '') return undefined
    total += BigInt(whole || '0') * scale
    if (fraction !== '') total += (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length)
  }
  return total > maxNanos ? undefined : sign * total
}

/** 120000000000n -> `2m0s`, as Go prints it. */
export function formatGoDuration(nanos: bigint): string {
  if (nanos === 0n) return '0s'
  const sign = nanos < 0n ? '-' : ''
  const n = nanos < 0n ? -nanos : nanos
  if (n < 1_000n) return `${sign}${n}ns`
  if (n < 1_000_000n) return `${sign}${decimal(n, 1_000n)}µs`
  if (n < 1_000_000_000n) return `${sign}${decimal(n, 1_000_000n)}ms`
  const hours = n / 3_600_000_000_000n
  const minutes = (n / 60_000_000_000n) % 60n
  const seconds = `${decimal(n % 60_000_000_000n, 1_000_000_000n)}s`
  if (hours > 0n) return `${sign}${hours}h${minutes}m${seconds}`
  return minutes > 0n ? `${sign}${minutes}m${seconds}` : `${sign}${seconds}`
}

function decimal(n: bigint, unit: bigint): string {
  const rest = n % unit
  if (rest === 0n) return `${n / unit}`
  const digits = rest.toString().padStart(unit.toString().length - 1, '0')
  return `${n / unit}.${digits.replace(/0+$/, '')}`
}
