// The three pods that show the feature: one that is protected, one that runs into memory.high, one that has nothing.
import { formatPod } from './pod-manifest.js'

export interface DemoPod {
  readonly name: string
  readonly manifest: string
  /** What to look for, in one line. */
  readonly shows: string
}

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
    shows: 'Burstable: wants more than memory.high and is slowed down before memory.max',
    manifest: formatPod({
      name: 'hog',
      image: 'keelson.local/hog:1',
      args: ['60', '2000'],
      resources: { requests: '{ memory: 16Mi }', limits: '{ memory: 64Mi }' },
    }),
  },
  {
    name: 'best-effort',
    shows: 'BestEffort: no request, so nothing is kept for it',
    manifest: formatPod({ name: 'best-effort', image: 'keelson.local/hog:1', args: ['8', '5000'] }),
  },
]
