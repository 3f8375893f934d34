// The environment of a container, its command and its arguments, with references filled in: `$(NAME)` in later values
// and words, and fields of the pod.
import type { ContainerSpec, PodSpec } from '../../../core/pod/spec/spec.js'

export interface EnvFacts {
  readonly nodeName: string
  readonly hostIPs: readonly string[]
  readonly podIPs: readonly string[]
}

interface ContainerWords {
  readonly env: readonly { readonly key: string; readonly value: string }[]
  readonly command: readonly string[]
  readonly args: readonly string[]
}

export function containerWords(spec: PodSpec, container: ContainerSpec, facts: EnvFacts): ContainerWords {
  const values = new Map<string, string>()
  for (const variable of container.env) {
    const value =
      'fieldPath' in variable
        ? fieldValue(spec, variable.fieldPath, facts)
        : expandReferences(variable.value, values)
    // A name that is set again keeps its place and gets the later value.
    values.set(variable.name, value)
  }
  return {
    env: [...values].map(([key, value]) => ({ key, value })),
    command: container.command.map((word) => expandReferences(word, values)),
    args: container.args.map((word) => expandReferences(word, values)),
  }
}

/** `$(A)` is the value of A where it is known and stays as it is where not; `$$(A)` is the text `$(A)`. */
export function expandReferences(text: string, values: ReadonlyMap<string, string>): string {
  let result = ''
  for (let i = 0; i < text.length; i += 1) {
    if (text[i] !== '$') {
      result += text[i]
      continue
    }
    if (text[i + 1] === '$') {
      result += '$'
      i += 1
      continue
    }
    const end = text[i + 1] === '(' ? text.indexOf(')', i + 2) : -1
    const value = end < 0 ? undefined : values.get(text.slice(i + 2, end))
    if (end < 0) result += '$'
    else {
      result += value ?? text.slice(i, end + 1)
      i = end
    }
  }
  return result
}

function fieldValue({ pod, labels }: PodSpec, path: string, facts: EnvFacts): string {
  const entry = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path)
  if (entry !== null) return (entry[1] === 'labels' ? labels : pod.annotations).get(entry[2] ?? '') ?? ''
  switch (path) {
    case 'metadata.name':
      return pod.name
    case 'metadata.namespace':
      return pod.namespace
    case 'metadata.uid':
      return pod.uid
    case 'spec.nodeName':
      return facts.nodeName
    case 'status.hostIP':
      return facts.hostIPs[0] ?? ''
    case 'status.hostIPs':
      return facts.hostIPs.join(',')
    case 'status.podIP':
      return facts.podIPs[0] ?? ''
    case 'status.podIPs':
      return facts.podIPs.join(',')
    default:
      return ''
  }
}
