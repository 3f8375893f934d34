// Mounts of a container below the mount of a volume need a directory inside that volume: one that is written anew cannot be
// given it later.
import { allContainerSpecs, type PodSpec } from '../../../core/pod/spec/spec.js'

const clean = (path: string): string =>
  path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')

/** Relative to the volume; of those that lie below each other only the upper one. */
export function nestedMountPoints(spec: PodSpec, volume: string): readonly string[] {
  const found = new Set<string>()
  for (const { mounts } of allContainerSpecs(spec)) {
    const paths = mounts.map(({ path }) => clean(path)).sort()
    for (const mount of mounts) {
      if (mount.volume !== volume) continue
      const prefix = `${clean(mount.path)}/`
      const below = paths.filter((path) => path.startsWith(prefix))
      const upper = below.filter((path) => !below.some((other) => path.startsWith(`${other}/`)))
      for (const path of upper) found.add(path.slice(prefix.length))
    }
  }
  return [...found]
}
