// Names of files in a --patches directory: `target[suffix][+type].ext`, as kubeadm has them.
import { keelsonError } from '../../core/errors.js'
import { parseYamlDocuments } from '../yaml-text.js'

const patchTypes = ['json', 'merge', 'strategic'] as const
type PatchType = (typeof patchTypes)[number]

/** All of kubeadm's targets are known names; only the last one is ours to apply. */
const knownTargets = [
  'corednsdeployment',
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubeletconfiguration',
] as const

interface PatchFile {
  /** Relative to the directory; only the last part counts. */
  readonly name: string
  readonly text: string
}

export interface Patch {
  readonly file: string
  readonly type: PatchType
  readonly document: unknown
}

export interface ReadPatches {
  readonly patches: readonly Patch[]
  readonly notices: readonly string[]
}

type PatchName =
  | { readonly kind: 'patch'; readonly target: string; readonly type: PatchType }
  | { readonly kind: 'ignored'; readonly why: string }

/** `kubeletconfiguration0+merge.json` -> a merge patch of kubeletconfiguration. */
export function parsePatchName(name: string): PatchName {
  const base = name.split('/').at(-1) ?? name
  if (!/.\.(json|yaml)$/.test(base))
    return { kind: 'ignored', why: 'its name does not end in .json or .yaml' }
  const target = knownTargets.find((t) => base.startsWith(t))
  if (target === undefined)
    return { kind: 'ignored', why: `its name does not begin with any of ${knownTargets.join(', ')}` }
  const [beforeDot = ''] = base.slice(target.length).split('.')
  const plus = beforeDot.indexOf('+')
  if (plus < 0) return { kind: 'patch', target, type: 'strategic' }
  const word = beforeDot.slice(plus + 1)
  const type = patchTypes.find((t) => t === word)
  if (type === undefined)
    throw keelsonError(
      'node.patch',
      `read patch ${name}: unknown or missing patch type after '+', must be one of ${patchTypes.join(', ')}`,
      { file: name },
    )
  return { kind: 'patch', target, type }
}

/** The patches of kubeletconfiguration in the order given; an empty file is none, several documents are several. */
export function readKubeletPatches(files: readonly PatchFile[]): ReadPatches {
  const patches: Patch[] = []
  const notices: string[] = []
  for (const { name, text } of files) {
    const parsed = parsePatchName(name)
    if (parsed.kind === 'ignored') notices.push(`patch file ${name} is ignored: ${parsed.why}`)
    else if (parsed.target === 'kubeletconfiguration')
      for (const document of parseYamlDocuments(text, `patch ${name}`))
        patches.push({ file: name, type: parsed.type, document })
  }
  return { patches, notices }
}
