// One named file to a checked document: text, tree, apiVersion and kind. Faults become problems, so that a bad
// drop-in and a bad field elsewhere are reported together.

import { type ErrorCode, rethrowBug } from '../core/errors.js'
import { didYouMean } from '../core/units/nearest-name.js'
import { type ConfigNode, nodeAt, type ObjectNode, objectNode } from './node.js'
import type { Findings, Origin } from './origin.js'
import { describeJson, parseYaml } from './parse-yaml.js'
import { decodeText, type NamedBytes } from './read-text.js'

interface ExpectedKind {
  readonly apiVersion: string
  readonly kind: string
  readonly from: 'file' | 'drop-in'
}

/** Undefined when the file cannot be used; what is wrong is in `findings`. */
export function readDocument(
  file: NamedBytes,
  expected: ExpectedKind,
  findings: Findings,
): ObjectNode | undefined {
  const originAt = (line: number): Origin => ({ from: expected.from, path: file.path, line })
  const refuse = (code: ErrorCode, message: string, remedy: string, origin = originAt(1)): undefined => {
    findings.problems.push({ code, path: '', message, remedy, origin })
    return undefined
  }
  let node: ConfigNode | undefined
  try {
    node = parseYaml(decodeText(file), file.path, originAt)
  } catch (e) {
    const error = rethrowBug(e)
    const line = error.details.line
    return refuse(error.code, error.message, '', originAt(typeof line === 'number' ? line : 1))
  }
  const want = `apiVersion: ${expected.apiVersion} and kind: ${expected.kind}`
  if (node === undefined)
    return refuse('config.kind', `${file.path} is empty, expected ${want}`, `begin with ${want}`)
  if (node.kind !== 'object') {
    return refuse(
      'config.kind',
      `${file.path} is ${describeJson(node.value)}, expected ${want}`,
      `begin with ${want}`,
    )
  }
  for (const field of ['apiVersion', 'kind'] as const) {
    const found = nodeAt(node, [field])
    if (found?.kind === 'leaf' && found.value === expected[field]) continue
    const has = found?.kind === 'leaf' ? `${field} ${describeJson(found.value)}` : `no ${field}`
    const near =
      found?.kind === 'leaf' && typeof found.value === 'string'
        ? didYouMean(found.value, [expected[field]])
        : ''
    return refuse(
      'config.kind',
      `${file.path} has ${has}, expected ${want}${near}`,
      `set ${want}`,
      found?.origin,
    )
  }
  return withoutKind(node)
}

/** What is left to merge: an apiVersion is about the file, not a setting. */
const withoutKind = (node: ObjectNode): ObjectNode =>
  objectNode(new Map([...node.fields].filter(([key]) => key !== 'apiVersion' && key !== 'kind')), node.origin)
