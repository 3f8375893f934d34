// Which files of a --config-dir tree count and in which order; a directory reader hands in every path it found.

/** Lexical by bytes in each directory, a sub-directory sorted by its name; only `.conf` counts. */
export function orderDropIns<T extends { readonly path: string }>(files: readonly T[]): readonly T[] {
  return files.filter((f) => isDropIn(f.path)).sort((a, b) => comparePaths(a.path, b.path))
}

export const isDropIn = (path: string): boolean => path.endsWith('.conf')

function comparePaths(a: string, b: string): number {
  const left = a.split('/')
  const right = b.split('/')
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const [x, y] = [left[i], right[i]]
    if (x === y) continue
    if (x === undefined || y === undefined) return x === undefined ? -1 : 1
    return compareBytes(x, y)
  }
  return 0
}

const utf8 = new TextEncoder()

/** Go sorts file names by bytes; JavaScript's own order differs beyond the basic plane. */
function compareBytes(a: string, b: string): number {
  const [x, y] = [utf8.encode(a), utf8.encode(b)]
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const difference = (x[i] ?? 0) - (y[i] ?? 0)
    if (difference !== 0) return difference
  }
  return x.length - y.length
}

const dropInVariable = 'KUBELET_CONFIG_DROPIN_DIR_ALPHA'

/** 1.28 and 1.29 want to be asked twice; undefined: --config-dir may be used. */
export function whyNoDropIns(
  minor: number,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (minor < 28) return 'unknown flag: --config-dir was added in Kubernetes 1.28'
  if (minor < 30 && env[dropInVariable] === undefined) {
    return `--config-dir needs the environment variable ${dropInVariable} in Kubernetes 1.${minor}`
  }
  return undefined
}
