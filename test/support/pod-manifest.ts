// Small manifests for tests: a pod of busybox containers with whatever a test adds, and what the runtime shows of it.
import { parsePodSpec } from '../../src/core/pod/spec/parse.js'
import type { PodSpec } from '../../src/core/pod/spec/spec.js'
import {
  newestFirst,
  type ObservedContainer,
  type ObservedPod,
} from '../../src/kubelet/pods/decide/observed.js'

type Fields = Readonly<Record<string, unknown>>

export const image = 'keelson.local/busybox:1'

export const manifest = (spec: Fields = {}, metadata: Fields = {}): Fields => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', ...metadata },
  spec: { containers: [{ name: 'app', image }], ...spec },
})

/** Fails the test when the manifest has problems. */
export function specOf(spec: Fields = {}, metadata: Fields = {}, origin: 'file' | 'api' = 'file'): PodSpec {
  const parsed = parsePodSpec(manifest(spec, metadata), origin)
  if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems))
  return { ...parsed.spec, pod: { ...parsed.spec.pod, uid: 'u1' } }
}

export const second = 1_000_000_000n

export interface ShownContainer extends Partial<ObservedContainer> {
  readonly name: string
}

let serial = 0n

/** Of sandbox `s0` unless said otherwise; the id is `name#attempt`. */
export function container(c: ShownContainer): ObservedContainer {
  const attempt = c.attempt ?? 0
  serial += 1n
  return {
    id: `${c.name}#${attempt}`,
    attempt,
    sandboxId: 's0',
    state: 'running',
    kind: 'app',
    createdAtNanos: serial,
    startedAtNanos: serial,
    finishedAtNanos: 0n,
    exitCode: 0,
    reason: '',
    message: '',
    image,
    imageId: 'sha256:1',
    logPath: '',
    hash: '',
    user: undefined,
    resources: undefined,
    ...c,
  }
}

export const exited = (
  name: string,
  exitCode: number,
  more: Partial<ObservedContainer> = {},
): ObservedContainer => container({ name, state: 'exited', exitCode, ...more })

export function observed(
  containers: readonly ObservedContainer[],
  sandboxes: ObservedPod['sandboxes'] = [readySandbox],
): ObservedPod {
  return {
    uid: 'u1',
    name: 'web',
    namespace: 'default',
    sandboxes,
    containers: [...containers].sort(newestFirst),
    graceSeconds: undefined,
  }
}

export const readySandbox = {
  id: 's0',
  attempt: 0,
  ready: true,
  createdAtNanos: 1n,
  ips: ['10.0.0.2'],
} as const
export const deadSandbox = { ...readySandbox, ready: false } as const
