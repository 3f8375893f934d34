// Which Kubernetes release's rules apply: a minor, and a patch where one is named. The range is what the
// tables of this folder describe; outside of it the meaning of a gate or a field is not known.

import { keelsonError } from '../errors.js'

export interface KubernetesVersion {
  readonly minor: number
  /** Undefined when only `1.36` was given: then the newest patch is meant. */
  readonly patch: number | undefined
}

export const oldestMinor = 20
export const newestMinor = 40
export const defaultVersion: KubernetesVersion = { minor: 36, patch: undefined }

export const formatVersion = (v: KubernetesVersion): string =>
  v.patch === undefined ? `1.${v.minor}` : `1.${v.minor}.${v.patch}`

const shape = /^v?1\.(0|[1-9]\d{0,3})(?:\.(0|[1-9]\d{0,3}))?(?:[-+][0-9A-Za-z.+-]{1,64})?$/

/** `v1.36.2` -> { minor: 36, patch: 2 }; a pre-release or build suffix is accepted and dropped. */
export function parseVersion(text: string): KubernetesVersion {
  const found = shape.exec(text)
  const minor = Number(found?.[1] ?? Number.NaN)
  if (found === null || minor < oldestMinor || minor > newestMinor) {
    throw keelsonError(
      'version.unknown',
      `read Kubernetes version ${JSON.stringify(text.slice(0, 80))}: not a release between 1.${oldestMinor} and 1.${newestMinor}; write it as 1.36 or v1.36.2`,
      { value: text.slice(0, 80) },
    )
  }
  return { minor, patch: found[2] === undefined ? undefined : Number(found[2]) }
}
