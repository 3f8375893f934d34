// The documents of a --config file: kubeadm's v1beta3 and v1beta4 kinds and a KubeletConfiguration. Only the
// fields that bear on a node's CRI socket are read; the rest is kubeadm's business and stays untouched.
import { keelsonError } from '../core/errors.js'
import { type FieldReader, fieldReader } from './fields.js'
import { checkKubeletConfig } from './kubelet-config.js'
import type { KubeletFlag } from './kubelet-flags.js'
import { isMap, parseYamlDocuments, type YamlMap } from './yaml-text.js'

interface NodeRegistration {
  readonly name?: string
  readonly criSocket?: string
  readonly kubeletExtraArgs: readonly KubeletFlag[]
  readonly taints?: readonly string[]
}

/** The settings that every command's document can hold. */
interface CommandSettings {
  readonly dryRun?: boolean
  readonly ignorePreflightErrors: readonly string[]
  readonly skipPhases: readonly string[]
  readonly patchesDirectory?: string
}

export interface KubeadmDocuments {
  readonly node?: NodeRegistration
  readonly settings?: CommandSettings
  readonly cluster?: YamlMap
  readonly kubelet?: YamlMap
  readonly upgrade?: { readonly kubernetesVersion?: string }
  readonly reset?: {
    readonly criSocket?: string
    readonly certificatesDir?: string
    readonly force?: boolean
    readonly cleanupTmpDir?: boolean
  }
  readonly notices: readonly string[]
}

export type CommandName = 'init' | 'join' | 'upgrade apply' | 'upgrade node' | 'reset'

const kindOf: Readonly<Record<CommandName, string>> = {
  init: 'InitConfiguration',
  join: 'JoinConfiguration',
  'upgrade apply': 'UpgradeConfiguration',
  'upgrade node': 'UpgradeConfiguration',
  reset: 'ResetConfiguration',
}
const group = 'kubeadm.k8s.io'
const versions = ['v1beta3', 'v1beta4']

export function readKubeadmDocuments(text: string, what: string, command: CommandName): KubeadmDocuments {
  const found: { [kind: string]: YamlMap } = {}
  const notices: string[] = []
  const documents = parseYamlDocuments(text, what)
  if (documents.length === 0)
    throw keelsonError('config.invalid', `read ${what}: it has no document`, { what })
  for (const document of documents) {
    if (!isMap(document))
      throw keelsonError('config.invalid', `read ${what}: a document is not a mapping`, { what })
    const kind = kindIn(document, what)
    if (kind === undefined)
      notices.push(`${what}: document ${String(document.kind)} (${String(document.apiVersion)}) is ignored`)
    else if (kind in found)
      throw keelsonError('config.invalid', `read ${what}: ${kind} appears twice`, { what })
    else found[kind] = document
  }
  const own = found[kindOf[command]]
  const kubelet = found.KubeletConfiguration
  const cluster = found.ClusterConfiguration
  if (own === undefined && kubelet === undefined && cluster === undefined)
    throw keelsonError('config.kind', `read ${what}: it has no ${kindOf[command]}`, { what })
  return {
    ...(own === undefined ? {} : readOwn(own, what, command)),
    ...(kubelet === undefined ? {} : { kubelet: checkKubeletConfig(kubelet, what) }),
    ...(cluster === undefined ? {} : { cluster }),
    notices,
  }
}

const ourKinds = new Set([...Object.values(kindOf), 'ClusterConfiguration'])

function kindIn(document: YamlMap, what: string): string | undefined {
  const { apiVersion, kind } = document
  if (typeof apiVersion !== 'string' || typeof kind !== 'string')
    throw keelsonError('config.kind', `read ${what}: a document has no apiVersion or kind`, { what })
  if (kind === 'KubeletConfiguration') return kind
  const [docGroup, version = ''] = apiVersion.split('/')
  if (docGroup !== group || !ourKinds.has(kind)) return undefined
  if (!versions.includes(version))
    throw keelsonError(
      'config.kind',
      `read ${what}: ${kind} of ${apiVersion}: use ${versions.join(' or ')}`,
      {
        what,
      },
    )
  return kind
}

function readOwn(document: YamlMap, what: string, command: CommandName): Partial<KubeadmDocuments> {
  const r = fieldReader(document, what)
  switch (command) {
    case 'init':
    case 'join':
      return {
        node: readRegistration(r.child('nodeRegistration')),
        settings: readSettings(r, r.child('nodeRegistration')),
      }
    case 'upgrade apply': {
      const apply = r.child('apply')
      const version = apply.text('kubernetesVersion')
      return {
        settings: readSettings(apply, apply),
        upgrade: version === undefined ? {} : { kubernetesVersion: version },
      }
    }
    case 'upgrade node': {
      const node = r.child('node')
      return { settings: readSettings(node, node) }
    }
    case 'reset':
      return { settings: readSettings(r, r), reset: readReset(r) }
  }
}

const set = <K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } =>
  (value === undefined ? {} : { [key]: value }) as { [P in K]?: V }

function readRegistration(r: FieldReader): NodeRegistration {
  return {
    ...set('name', r.text('name')),
    ...set('criSocket', r.text('criSocket')),
    ...set('taints', readTaints(r)),
    kubeletExtraArgs: readExtraArgs(r),
  }
}

const readSettings = (r: FieldReader, errorsIn: FieldReader): CommandSettings => ({
  ...set('dryRun', r.flag('dryRun')),
  ...set('patchesDirectory', r.child('patches').text('directory')),
  ignorePreflightErrors: errorsIn.texts('ignorePreflightErrors'),
  skipPhases: r.texts('skipPhases'),
})

const readReset = (r: FieldReader) => ({
  ...set('criSocket', r.text('criSocket')),
  ...set('certificatesDir', r.text('certificatesDir')),
  ...set('force', r.flag('force')),
  ...set('cleanupTmpDir', r.flag('cleanupTmpDir')),
})

/** v1beta4 has a list of name and value, v1beta3 a mapping. */
function readExtraArgs(r: FieldReader): KubeletFlag[] {
  const raw = r.raw('kubeletExtraArgs')
  if (isMap(raw))
    return Object.keys(raw).map((name) => ({ name, value: r.child('kubeletExtraArgs').word(name) ?? '' }))
  return r.maps('kubeletExtraArgs').map((arg) => {
    const name = arg.text('name')
    if (name === undefined) throw arg.bad('name', 'is missing')
    return { name, value: arg.word('value') ?? '' }
  })
}

function readTaints(r: FieldReader): string[] | undefined {
  if (r.raw('taints') === undefined) return undefined
  return r.maps('taints').map((t) => {
    const value = t.text('value')
    return `${t.text('key') ?? ''}${value === undefined ? '' : `=${value}`}:${t.text('effect') ?? ''}`
  })
}

/** featureGates of a ClusterConfiguration. */
export function readClusterGates(cluster: YamlMap | undefined, what: string): Record<string, boolean> {
  if (cluster === undefined) return {}
  const r = fieldReader(cluster, what).child('featureGates')
  return Object.fromEntries(r.keys().map((name) => [name, r.flag(name) ?? false]))
}

export const readClusterDomain = (cluster: YamlMap | undefined, what: string): string | undefined =>
  cluster === undefined ? undefined : fieldReader(cluster, what).child('networking').text('dnsDomain')

export const readClusterVersion = (cluster: YamlMap | undefined, what: string): string | undefined =>
  cluster === undefined ? undefined : fieldReader(cluster, what).text('kubernetesVersion')
