// The three pods that show the feature: one that is protected, one that runs into memory.high, one that has nothing.
// Images are the lab's own, made of busybox.

export interface DemoPod {
  readonly name: string
  readonly manifest: string
  /** What to look for, in one line. */
  readonly shows: string
}

const pod = (name: string, image: string, args: readonly string[], resources: string): string =>
  `apiVersion: v1
kind: Pod
metadata:
  name: ${name}
spec:
  terminationGracePeriodSeconds: 2
  containers:
    - name: main
      image: ${image}
      imagePullPolicy: Never
      args: ${JSON.stringify(args)}
${resources}`

const resources = (requests: string, limits: string): string =>
  `      resources:
        requests: ${requests}
        limits: ${limits}
`

export const demoPods: readonly DemoPod[] = [
  {
    name: 'cache-reader',
    shows: 'Guaranteed: its page cache is protected by memory.min, memory.high stays max',
    manifest: pod(
      'cache-reader',
      'keelson.local/cache-reader:1',
      ['/data/file', '32', '5'],
      resources('{ cpu: 100m, memory: 64Mi }', '{ cpu: 100m, memory: 64Mi }'),
    ),
  },
  {
    name: 'hog',
    shows: 'Burstable: wants more than memory.high and is slowed down before memory.max',
    manifest: pod(
      'hog',
      'keelson.local/hog:1',
      ['60', '2000'],
      resources('{ memory: 16Mi }', '{ memory: 64Mi }'),
    ),
  },
  {
    name: 'best-effort',
    shows: 'BestEffort: no request, so nothing is kept for it',
    manifest: pod('best-effort', 'keelson.local/hog:1', ['8', '5000'], ''),
  },
]
