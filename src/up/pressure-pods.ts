// The workloads of `keelson up --demo pressure` and the small node they share: more demand than there is memory.
import { formatPod } from './pod-manifest.js'

const MiB = 1024n * 1024n

/** What all pods together may use; the rest of the machine is reserved, so that the pressure stays among the pods. */
export const podsMemory = 512n * MiB
export const cacheMiB = 200

/** Writes its file once, so that the pages are its own, and waits: a warm cache without a current reader. */
const warm = `dd if=/dev/zero of=/data/cache bs=1M count=${cacheMiB} && sync && echo warm
trap 'exit 0' TERM; while :; do sleep 1 & wait $!; done`

export const cachePod = (data: string): string =>
  formatPod({
    name: 'cache',
    image: 'keelson.local/busybox:1',
    args: ['/bin/sh', '-c', warm],
    resources: { requests: '{ cpu: 100m, memory: 240Mi }', limits: '{ cpu: 100m, memory: 240Mi }' },
    data,
  })

/** Wants more than its limit: killed without Memory QoS, held at memory.high with it. */
export const hogPod = formatPod({
  name: 'hog',
  image: 'keelson.local/hog:1',
  args: ['200', '200'],
  resources: { requests: '{ memory: 16Mi }', limits: '{ memory: 128Mi }' },
})

/** Has no limit and wants more than the node: it takes what it can get, and is killed when there is no more. */
export const noisePod = formatPod({ name: 'noise', image: 'keelson.local/hog:1', args: ['700', '200'] })
