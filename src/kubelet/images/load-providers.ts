// Reads --image-credential-provider-config at the start of the kubelet. As upstream, what is wrong with it keeps the kubelet from
// starting: images would be pulled without the credentials that the operator set up.

import type { ProcessFlags } from '../../config/flag-words.js'
import { readManifest } from '../../config/read-manifest.js'
import { keelsonError } from '../../core/errors.js'
import type { KubeletPorts } from '../kubelet-ports.js'
import { type CredentialProviders, createCredentialProviders } from './credential-providers.js'
import { readProviderConfig } from './decide/provider-config.js'

const flags = ['image-credential-provider-config', 'image-credential-provider-bin-dir'] as const
const maxConfig = 256 * 1024
const suffixes = ['.json', '.yaml', '.yml']

type Ports = Pick<KubeletPorts, 'files' | 'programs' | 'clock' | 'log' | 'metrics'>

/** Undefined: none are configured. */
export async function loadCredentialProviders(
  process: ProcessFlags,
  ports: Ports,
  signal: AbortSignal,
): Promise<CredentialProviders | undefined> {
  const [path = '', directory = ''] = flags.map((flag) => process[flag])
  if (path === '' && directory === '') return undefined
  if (path === '' || directory === '')
    throw refused(`${flags.map((flag) => `--${flag}`).join(' and ')} belong together; give both`)
  const documents: unknown[] = []
  for (const file of await configFiles(path, ports)) {
    const bytes = await ports.files.read(file, maxConfig)
    if (bytes === undefined) throw refused(`${file} does not exist`)
    documents.push(...readManifest({ path: file, bytes }).map(({ content }) => content))
  }
  const { providers, problems } = readProviderConfig(documents)
  if (problems.length > 0)
    throw refused(`${path}: ${problems.map((p) => `${p.path}: ${p.message}; ${p.remedy}`).join(', ')}`)
  for (const { name } of providers)
    if (!(await ports.programs.isRunnable(`${directory}/${name}`)))
      throw refused(`the plugin ${directory}/${name} does not exist or may not be run`)
  return createCredentialProviders({ ...ports, providers, directory, signal })
}

const refused = (why: string) => keelsonError('config.invalid', `use the image credential providers: ${why}`)

/** A directory has one configuration in several files. */
async function configFiles(path: string, { files }: Ports): Promise<readonly string[]> {
  const entries = await files.list(path).catch(() => undefined)
  if (entries === undefined) return [path]
  const found = entries.filter(({ name }) => suffixes.some((suffix) => name.endsWith(suffix)))
  if (found.length === 0) throw refused(`no configuration files in the directory ${path}`)
  return found.map((entry) => entry.path).sort()
}
