// The three pods that show the feature: one that is protected, one that runs into memory.high, one that has nothing.
import { formatPod } from './pod-manifest.js'

export interface DemoPod {
  readonly name: string
  readonly manifest: string
  /** What to look for, in one line. */
  readonly shows: string
}

/** MiB of each step of a wave; the last one is more than the hog's memory.high. */
const waveMiB = [15, 30, 45, 60]

/**
 * Steps up to memory.high, then back to nothing, every quarter of a minute: values move, and a command in the container
 * finds it throttled for a few seconds only.
 */
const waves = `trap 'exit 0' TERM
while :; do
  for mib in ${waveMiB.join(' ')}; do timeout 3 hog $mib 1000 & wait $!; done
  sleep 3 & wait $!
done`

/** `data`: a directory on a disk, because a file in memory is no page cache that the kernel could drop. */
export const demoPods = (data: string): readonly DemoPod[] => [
  {
    name: 'cache-reader',
    shows: 'Guaranteed: its page cache is protected by memory.min, memory.high stays max',
    manifest: formatPod({
      name: 'cache-reader',
      image: 'keelson.local/cache-reader:1',
      args: ['/data/file', '32', '5'],
      resources: { requests: '{ cpu: 100m, memory: 64Mi }', limits: '{ cpu: 100m, memory: 64Mi }' },
      data,
    }),
  },
  {
    name: 'hog',
    shows: 'Burstable: allocates in waves; throttled at memory.high, before memory.max',
    manifest: formatPod({
      name: 'hog',
      image: 'keelson.local/busybox:1',
      args: ['/bin/sh', '-c', waves],
      resources: { requests: '{ memory: 16Mi }', limits: '{ memory: 64Mi }' },
    }),
  },
  {
    name: 'best-effort',
    shows: 'BestEffort: no request, so no memory is protected',
    manifest: formatPod({ name: 'best-effort', image: 'keelson.local/hog:1', args: ['8', '5000'] }),
  },
]
