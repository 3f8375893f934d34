// Static pods that say themselves when they run and when they end, by files in a directory of the node: neither kubelet nor
// runtime is asked, so that looking costs them nothing.
import { type FSWatcher, readdirSync, watch } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface PodMarks {
  /** When each pod's container ran its first command, in milliseconds of performance.now(). */
  readonly started: ReadonlyMap<string, number>
  /** Resolves when that many pods of the names have started. */
  waitFor(names: readonly string[], timeoutMs: number): Promise<void>
  close(): void
}

export async function watchMarks(directory: string): Promise<PodMarks> {
  await mkdir(directory, { recursive: true })
  const started = new Map<string, number>()
  const listeners = new Set<() => void>()
  const look = (): void => {
    const now = performance.now()
    for (const name of readdirSync(directory)) if (!started.has(name)) started.set(name, now)
    for (const listener of listeners) listener()
  }
  const watcher: FSWatcher = watch(directory, look)
  return {
    started,
    async waitFor(names, timeoutMs) {
      const have = (): boolean => names.every((name) => started.has(name))
      await new Promise<void>((resolve, reject) => {
        const missing = (): string =>
          names
            .filter((name) => !started.has(name))
            .slice(0, 5)
            .join(', ')
        const timer = setTimeout(() => {
          listeners.delete(check)
          reject(new Error(`not running after ${timeoutMs / 1000} s: ${missing()}`))
        }, timeoutMs)
        const check = (): void => {
          if (!have()) return
          clearTimeout(timer)
          listeners.delete(check)
          resolve()
        }
        listeners.add(check)
        check()
      })
    },
    close: () => watcher.close(),
  }
}

/** A container that sleeps without using the processor and ends at once on SIGTERM. */
const podDocument = (name: string, image: string, marks: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: {
    terminationGracePeriodSeconds: 10,
    containers: [
      {
        name: 'app',
        image,
        imagePullPolicy: 'IfNotPresent',
        command: ['/bin/sh', '-c', `echo > /marks/${name}; trap 'exit 0' TERM; sleep 1000000 & wait`],
        resources: { requests: { cpu: '1m', memory: '8Mi' } },
        volumeMounts: [{ name: 'marks', mountPath: '/marks' }],
      },
    ],
    volumes: [{ name: 'marks', hostPath: { path: marks } }],
  },
})

/** The file appears whole: both kubelets read a manifest as soon as they are told of it. */
export async function writePod(
  manifests: string,
  { name, image, marks }: { readonly name: string; readonly image: string; readonly marks: string },
): Promise<void> {
  const draft = join(manifests, '..', `${name}.draft`)
  await writeFile(draft, JSON.stringify(podDocument(name, image, marks)))
  await rename(draft, join(manifests, `${name}.yaml`))
}

export const removePod = (manifests: string, name: string): Promise<void> =>
  rm(join(manifests, `${name}.yaml`))
