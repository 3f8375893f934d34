// CredentialProviderConfig: which plugin programs are asked for the credentials of which images.
import { parseGoDuration } from '../../../core/units/go-duration.js'
import type { Problem } from '../../../core/units/problem.js'

export interface ProviderConfig {
  /** Also the name of the program. */
  readonly name: string
  /** Of the request and the response. */
  readonly apiVersion: string
  readonly matchImages: readonly string[]
  /** 0: answers without a duration are not kept. */
  readonly defaultCacheNanos: bigint
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value: string }[]
}

type Fields = Readonly<Record<string, unknown>>

const configVersions = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `kubelet.config.k8s.io/${version}`)
const pluginVersions = ['v1', 'v1beta1', 'v1alpha1'].map(
  (version) => `credentialprovider.kubelet.k8s.io/${version}`,
)

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const texts = (value: unknown): readonly string[] => listOf(value).filter((v) => typeof v === 'string')

/** Of all documents together; a problem keeps the kubelet from starting, as upstream. */
export function readProviderConfig(documents: readonly unknown[]): {
  readonly providers: readonly ProviderConfig[]
  readonly problems: readonly Problem[]
} {
  const problems: Problem[] = []
  const providers: ProviderConfig[] = []
  const names = new Set<string>()
  for (const document of documents) {
    const { kind, apiVersion, providers: given } = fieldsOf(document)
    if (kind !== 'CredentialProviderConfig' || !configVersions.includes(String(apiVersion)))
      problems.push({
        path: 'kind',
        message: `is not CredentialProviderConfig of ${configVersions[0]}`,
        remedy: 'set apiVersion and kind',
      })
    for (const [i, entry] of listOf(given).entries()) {
      const provider = readProvider(fieldsOf(entry), `providers[${i}]`, problems)
      if (provider === undefined) continue
      if (names.has(provider.name))
        problems.push({
          path: `providers[${i}].name`,
          message: `${provider.name} is there twice`,
          remedy: 'keep one',
        })
      names.add(provider.name)
      providers.push(provider)
    }
  }
  if (providers.length === 0 && problems.length === 0)
    problems.push({ path: 'providers', message: 'names no plugin', remedy: 'name at least one' })
  return { providers, problems }
}

function readProvider(given: Fields, path: string, problems: Problem[]): ProviderConfig | undefined {
  const before = problems.length
  const problem = (key: string, message: string, remedy: string): void => {
    problems.push({ path: `${path}.${key}`, message, remedy })
  }
  const name = typeof given['name'] === 'string' ? given['name'] : ''
  if (name === '' || /[/\s\0]/.test(name) || name === '.' || name === '..')
    problem('name', 'is not the name of a program', 'write the name of a file in the plugin directory')
  const apiVersion = String(given['apiVersion'] ?? '')
  if (!pluginVersions.includes(apiVersion))
    problem('apiVersion', 'is not known', `use ${pluginVersions.join(', ')}`)
  const matchImages = texts(given['matchImages'])
  if (matchImages.length === 0) problem('matchImages', 'is empty', 'name at least one pattern')
  const duration = given['defaultCacheDuration']
  const defaultCacheNanos = typeof duration === 'string' ? parseGoDuration(duration) : undefined
  if (defaultCacheNanos === undefined || defaultCacheNanos < 0n)
    problem('defaultCacheDuration', 'is not a duration', 'write for example 12h')
  if (given['tokenAttributes'] !== undefined && given['tokenAttributes'] !== null)
    problem('tokenAttributes', 'is not supported', 'use a plugin that needs no service account token')
  const env = listOf(given['env']).map((entry) => {
    const { name: variable, value } = fieldsOf(entry)
    return { name: String(variable ?? ''), value: String(value ?? '') }
  })
  if (problems.length > before) return undefined
  return {
    name,
    apiVersion,
    matchImages,
    defaultCacheNanos: defaultCacheNanos ?? 0n,
    args: texts(given['args']),
    env,
  }
}
