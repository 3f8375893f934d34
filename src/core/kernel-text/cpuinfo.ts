// /proc/cpuinfo. Its fields differ by architecture: what is not printed is undefined, the count of processors is not.
import { splitLines } from './words.js'

export interface CpuInfo {
  /** Logical processors that are online. */
  readonly processors: number
  /** Distinct (physical id, core id) pairs; processors when the kernel does not print them. */
  readonly cores: number
  readonly sockets: number
  readonly modelName: string | undefined
  readonly vendorId: string | undefined
  /** Highest `cpu MHz`. User-mode Linux prints none. */
  readonly mhz: number | undefined
}

function parseBlocks(text: string): ReadonlyMap<string, string>[] {
  const blocks: Map<string, string>[] = []
  for (const line of splitLines(text)) {
    const colon = line.indexOf(':')
    if (colon < 0) continue
    const key = line.slice(0, colon).trim()
    if (key === 'processor') blocks.push(new Map())
    blocks.at(-1)?.set(key, line.slice(colon + 1).trim())
  }
  return blocks
}

export function parseCpuInfo(text: string): CpuInfo {
  const blocks = parseBlocks(text)
  const first = blocks[0]
  const ids = (key: string): string[] => blocks.flatMap((b) => b.get(key) ?? [])
  const cores = new Set(
    blocks.filter((b) => b.has('core id')).map((b) => `${b.get('physical id')}/${b.get('core id')}`),
  )
  const mhz = ids('cpu MHz').map(Number).filter(Number.isFinite)
  return {
    processors: blocks.length,
    cores: cores.size || blocks.length,
    sockets: new Set(ids('physical id')).size || 1,
    modelName: first?.get('model name'),
    vendorId: first?.get('vendor_id'),
    mhz: mhz.length === 0 ? undefined : Math.max(...mhz),
  }
}
