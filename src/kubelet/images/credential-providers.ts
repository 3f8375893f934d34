// Credential provider plugins: programs that are asked for the credentials of images that match, with their answers kept as
// long as they say. A plugin that fails gives none, and the image is tried without.
import { keelsonError, rethrowBug } from '../../core/errors.js'
import type { Clock } from '../../ports/clock.js'
import type { Programs } from '../../ports/host.js'
import type { Log } from '../../ports/log.js'
import type { Metrics } from '../../ports/metrics.js'
import type { Credentials } from './decide/keyring.js'
import type { ProviderConfig } from './decide/provider-config.js'
import {
  formatProviderRequest,
  type ProviderResponse,
  readProviderResponse,
} from './decide/provider-response.js'
import { matchesImage } from './decide/url-match.js'

export interface CredentialProviders {
  /** `image` has its registry and no tag. */
  find(image: string, signal: AbortSignal): Promise<Credentials>
}

interface CredentialProvidersInput {
  readonly providers: readonly ProviderConfig[]
  readonly directory: string
  readonly programs: Pick<Programs, 'run'>
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  /** Of the kubelet: a program that several pods wait for does not end with one of them. */
  readonly signal: AbortSignal
}

const timeoutMs = 60_000
const maxOutputBytes = 1024 * 1024
/** Far above the registries of a node; the oldest are asked for again. */
const maxKept = 1_000
const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

interface Kept {
  readonly credentials: Credentials
  readonly untilNanos: bigint
}

export function createCredentialProviders(i: CredentialProvidersInput): CredentialProviders {
  const errors = i.metrics.counter(
    'kubelet_credential_provider_plugin_errors_total',
    'Number of errors from credential provider plugin',
    ['plugin_name'],
  )
  const durations = i.metrics.histogram(
    'kubelet_credential_provider_plugin_duration',
    'Duration of execution in seconds for credential provider plugin',
    durationBuckets,
    ['plugin_name'],
  )
  const plugins = i.providers.map((provider) => createPlugin(provider, i, durations.observe))
  return {
    async find(image, signal) {
      const found: Credentials[number][] = []
      for (const { provider, ask } of plugins) {
        if (!provider.matchImages.some((pattern) => matchesImage(pattern, image))) continue
        try {
          found.push(...(await ask(image)))
        } catch (e) {
          if (signal.aborted || i.signal.aborted) throw e
          errors.inc({ plugin_name: provider.name })
          i.log.error('failed to get credentials for an image', {
            provider: provider.name,
            image,
            error: rethrowBug(e),
          })
        }
      }
      return found
    },
  }
}

interface Plugin {
  readonly provider: ProviderConfig
  readonly ask: (image: string) => Promise<Credentials>
}

function createPlugin(
  provider: ProviderConfig,
  { directory, programs, clock, signal }: CredentialProvidersInput,
  observe: (seconds: number, labels: Readonly<Record<string, string>>) => void,
): Plugin {
  const kept = new Map<string, Kept>()
  const running = new Map<string, Promise<Credentials>>()
  const keep = (key: string, { credentials, cacheNanos }: ProviderResponse): void => {
    const nanos = cacheNanos ?? provider.defaultCacheNanos
    if (nanos <= 0n) return
    kept.delete(key)
    kept.set(key, { credentials, untilNanos: clock.monotonicNanos() + nanos })
    for (const oldest of kept.keys()) if (kept.size > maxKept) kept.delete(oldest)
  }
  const run = async (image: string): Promise<Credentials> => {
    const began = clock.monotonicNanos()
    const program = {
      path: `${directory}/${provider.name}`,
      args: provider.args,
      env: Object.fromEntries(provider.env.map(({ name, value }) => [name, value])),
      input: formatProviderRequest(provider.apiVersion, image),
      timeoutMs,
      maxOutputBytes,
    }
    const text = await programs.run(program, signal).finally(() => {
      observe(Number(clock.monotonicNanos() - began) / 1e9, { plugin_name: provider.name })
    })
    const response = readProviderResponse(text, provider.apiVersion)
    if (typeof response === 'string')
      throw keelsonError('program.failed', response, { provider: provider.name })
    keep(keyOf(response.cacheKeyType, image), response)
    return response.credentials
  }
  return {
    provider,
    async ask(image) {
      for (const type of ['Image', 'Registry', 'Global'] as const) {
        const key = keyOf(type, image)
        const found = kept.get(key)
        if (found === undefined) continue
        if (found.untilNanos > clock.monotonicNanos()) return found.credentials
        kept.delete(key)
      }
      // Pods that need the same image at the same time ask once.
      const under = running.get(image)
      if (under !== undefined) return under
      const asking = run(image).finally(() => running.delete(image))
      running.set(image, asking)
      return asking
    },
  }
}

const keyOf = (type: ProviderResponse['cacheKeyType'], image: string): string =>
  type === 'Image' ? image : type === 'Registry' ? (image.split('/', 1)[0] ?? '') : '<global>'
