// Changes one value in a text and keeps every other byte.
import { keelsonError } from '../core/errors.js'
import { endpointFlag, endpointOfFlags, flagsVariable, parseKubeletFlags } from './kubelet-flags.js'
import { formatYaml, isSameValue, parseYamlMap, type YamlMap } from './yaml-text.js'

export const setEndpointInYaml = (text: string, endpoint: string, what: string): string =>
  setKeyInYaml(text, 'containerRuntimeEndpoint', endpoint, what)

/** A line is replaced or added if that gives what is meant; a text of another style is written anew. */
export function setKeyInYaml(text: string, key: string, value: string, what: string): string {
  const now = parseYamlMap(text, what)
  if (now?.[key] === value) return text
  const wanted: YamlMap = { ...now, [key]: value }
  const line = `${key}: ${JSON.stringify(value)}`
  const replaced = text.replace(new RegExp(`^(["']?)${key}\\1[ \\t]*:.*$`, 'm'), () => line)
  const added = `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`
  for (const candidate of [replaced, added]) {
    try {
      if (isSameValue(parseYamlMap(candidate, what), wanted)) return candidate
    } catch {
      // The text has another style; the next way is tried.
    }
  }
  return formatYaml(wanted)
}

/** Changes the value of the flag in place; flags, order and quotes stay. */
export function setEndpointInFlags(text: string, endpoint: string, what: string): string {
  const result = text
    .split('\n')
    .map((line) =>
      line.trimStart().startsWith(`${flagsVariable}=`)
        ? line.replace(
            new RegExp(`(--${endpointFlag}(?:=|\\s+))[^\\s"']*`, 'g'),
            (_, lead: string) => lead + endpoint,
          )
        : line,
    )
    .join('\n')
  if (endpointOfFlags(parseKubeletFlags(result)) !== endpoint)
    throw keelsonError('node.file-invalid', `set --${endpointFlag} in ${what}: unknown file format`)
  return result
}
