// instance-config.yaml: the node's own part of the KubeletConfiguration, first of all its CRI socket.
import { keelsonError } from '../core/errors.js'
import { instanceConfigPath } from './paths.js'
import { isMap, parseYamlDocuments, type YamlMap } from './yaml-text.js'

/** `unix:///run/rt.sock` -> `containerRuntimeEndpoint: "unix:///run/rt.sock"` and a newline. */
export const formatInstanceConfig = (endpoint: string): string =>
  `containerRuntimeEndpoint: ${JSON.stringify(endpoint)}\n`

/** An empty file is an empty mapping: it changes nothing. */
export function parseInstanceConfig(text: string): YamlMap {
  const documents = parseYamlDocuments(text, instanceConfigPath)
  if (documents.length === 0) return {}
  const [only] = documents
  const bad = (why: string) =>
    keelsonError('node.file-invalid', `read ${instanceConfigPath}: ${why}; fix it or remove it`, {
      path: instanceConfigPath,
    })
  if (documents.length > 1) throw bad('it has several documents, expected one mapping')
  if (!isMap(only)) throw bad('it is not a mapping of keys to values')
  const endpoint = only.containerRuntimeEndpoint
  if (endpoint !== undefined && endpoint !== null && typeof endpoint !== 'string')
    throw bad('containerRuntimeEndpoint is not a string')
  return only
}

/** Undefined: the file records no socket. */
export function endpointOfInstance(instance: YamlMap | undefined): string | undefined {
  const endpoint = instance?.containerRuntimeEndpoint
  return typeof endpoint === 'string' && endpoint !== '' ? endpoint : undefined
}
