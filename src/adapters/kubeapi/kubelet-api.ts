// /pods and /configz of this node's kubelet, and a pod source that asks again and again: a kubelet has no watch.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { RequestOptions } from 'node:https'
import { asKeelsonError, keelsonError } from '../../core/errors.js'
import type { Clock } from '../../ports/clock.js'
import type { Log } from '../../ports/log.js'
import type { KubeletApi, PodSource } from '../../ports/pod-source.js'
import { getJson } from './http-get.js'
import { certificateRemedy, kubeletTrust, type TrustFile } from './kubelet-trust.js'

interface KubeletApiOptions {
  /** `https://127.0.0.1:10250`; `http:` for the read-only port. */
  readonly url: string
  /** Read for each request: service account tokens are replaced. */
  readonly tokenFile?: string
  /** Authorities of the kubelet's certificate, or that certificate itself; see kubelet-trust.ts. */
  readonly caFiles?: readonly string[]
  /** The kubelet's certificate may be for this name too. */
  readonly nodeName?: string
  readonly certFile?: string
  readonly keyFile?: string
  /** Any listener at the address gets the token. */
  readonly skipVerify?: boolean
}

const timeoutMs = 15_000
const maxBytes = 64 * 1024 * 1024

const fileText = async (path: string): Promise<string> => {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw keelsonError('input.unreadable', `read ${path}: needed to connect to the kubelet`, { path }, cause)
  }
}

export function createKubeletApi(options: KubeletApiOptions): KubeletApi {
  /** One of several may be missing: a node whose kubelet has a certificate of the cluster keeps no kubelet.crt. */
  const trustFiles = async (paths: readonly string[]): Promise<TrustFile[]> => {
    const there = paths.filter((path) => existsSync(path))
    const chosen = there.length > 0 ? there : paths
    return Promise.all(chosen.map(async (path) => ({ path, pem: await fileText(path) })))
  }
  const credentials = async (): Promise<RequestOptions> => ({
    ...(options.tokenFile === undefined
      ? {}
      : { headers: { authorization: `Bearer ${(await fileText(options.tokenFile)).trim()}` } }),
    ...(options.caFiles === undefined
      ? {}
      : kubeletTrust(await trustFiles(options.caFiles), options.nodeName)),
    ...(options.certFile === undefined ? {} : { cert: await fileText(options.certFile) }),
    ...(options.keyFile === undefined ? {} : { key: await fileText(options.keyFile) }),
    ...(options.skipVerify === true ? { rejectUnauthorized: false } : {}),
  })
  const get = async (path: string, signal: AbortSignal): Promise<unknown> =>
    getJson(new URL(path, options.url), {
      tls: await credentials(),
      signal,
      timeoutMs,
      maxBytes,
      certificateRemedy,
    })
  const field = (value: unknown, name: string): unknown =>
    typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
  return {
    async pods(signal) {
      const items = field(await get('/pods', signal), 'items')
      // An empty list is `null` in Go.
      if (items === null || items === undefined) return []
      if (!Array.isArray(items))
        throw keelsonError('companion.source', `${options.url}/pods: items is not a list`)
      return items as readonly unknown[]
    },
    configz: async (signal) => field(await get('/configz', signal), 'kubeletconfig'),
  }
}

interface KubeletPodsOptions {
  readonly api: Pick<KubeletApi, 'pods'>
  readonly clock: Clock
  readonly log: Log
  readonly periodMs: number
}

export function createKubeletPods({ api, clock, log, periodMs }: KubeletPodsOptions): PodSource {
  let items: readonly unknown[] | undefined
  let shown = ''
  const refresh = async (signal: AbortSignal): Promise<void> => {
    items = await api.pods(signal)
  }
  return {
    teller: 'kubelet',
    current: () => items,
    refresh,
    async follow(onChange, signal) {
      while (!signal.aborted) {
        try {
          await refresh(signal)
          const now = JSON.stringify(items)
          if (now !== shown) onChange()
          shown = now
        } catch (e) {
          if (signal.aborted) return
          log.warn('failed to list pods from the kubelet; retrying', { error: asKeelsonError(e) })
        }
        await clock.sleep(periodMs, signal).catch(() => undefined)
      }
    },
  }
}
