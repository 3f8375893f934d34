// Versions of runtimes as they print them: `v1.6.20~ds1`, `2.0.0-rc.1`, `1.28.1`.

interface RuntimeVersion {
  readonly major: number
  readonly minor: number
}

function parseRuntimeVersion(text: string): RuntimeVersion | undefined {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(text) ?? []
  return major === undefined || minor === undefined
    ? undefined
    : { major: Number(major), minor: Number(minor) }
}

/** By the name in the answer to Version. */
export type OldestVersions = Readonly<Record<string, RuntimeVersion>>

/** Undefined: not known, because of the name or the version. */
export function isAtLeastOldest(
  { name, version }: { readonly name: string; readonly version: string },
  oldest: OldestVersions,
): boolean | undefined {
  const wanted = oldest[name.toLowerCase()]
  const found = parseRuntimeVersion(version)
  if (wanted === undefined || found === undefined) return undefined
  return found.major > wanted.major || (found.major === wanted.major && found.minor >= wanted.minor)
}
