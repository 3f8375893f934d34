// YAML or JSON text to a tree with line numbers, by the rules of Kubernetes' own YAML: version 1.1 words and
// octals, anchors and merge keys, no key twice. Bounded while it is read, because the library is synchronous: a file of
// any content costs at most what a full file of sound content does.

import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  Parser,
  Scalar,
} from 'yaml'
import { isKeelsonError, keelsonError } from '../core/errors.js'
import { type ConfigNode, type Json, leaf, objectNode, toJson } from './node.js'
import type { Origin } from './origin.js'

export interface YamlLimits {
  /** Words, signs, indentations and lines: what the library's work grows with. A line `key: value` has about eight. */
  readonly tokens: number
  /** In the whole file, after aliases are followed. */
  readonly values: number
  readonly documents: number
}

/** For processes that serve: read within 100 ms by a program just started, whatever is in the file. About 1,200 lines. */
export const servingLimits: YamlLimits = { tokens: 10_000, values: 10_000, documents: 1_000 }

/** For commands, which have nothing else to do: seconds, and memory that a node has. */
export const commandLimits: YamlLimits = { tokens: 500_000, values: 200_000, documents: 5_000 }

const maxDepth = 64

type LineOrigin = (line: number) => Origin

/** Undefined for a file without a document. Throws `yaml.invalid` naming path and line. */
export function parseYaml(text: string, path: string, originAt: LineOrigin): ConfigNode | undefined {
  const [first, second] = parseYamlDocuments(text, path, originAt)
  if (second !== undefined)
    throw keelsonError(
      'yaml.invalid',
      `parse ${path}:${lineOf(second.origin)}: a second document; use one file for each configuration`,
      { path },
    )
  return first
}

/** Every document that holds something, in order. Documents that are empty or hold only comments are no documents. */
export function parseYamlDocuments(
  text: string,
  path: string,
  originAt: LineOrigin,
  limits: YamlLimits = servingLimits,
): readonly ConfigNode[] {
  const lines = new LineCounter()
  const budget = { values: limits.values }
  try {
    return compose(text, path, lines, limits).flatMap((doc) => {
      const broken = doc.errors[0]
      if (broken !== undefined) {
        throw invalid(path, lines.linePos(broken.pos[0]).line, firstLine(broken.message))
      }
      return doc.contents === null
        ? []
        : [new TreeBuilder(path, lines, originAt, limits, budget).build(doc.contents, 0)]
    })
  } catch (e) {
    if (isKeelsonError(e)) throw e
    // No fault of the library may end us or look like one of ours.
    throw keelsonError('yaml.invalid', `parse ${path}: invalid YAML`, { path }, e)
  }
}

const lineOf = (origin: Origin): number => ('line' in origin ? origin.line : 1)

/**
 * The library's composer recurses, and V8 can die (not throw) when a regular expression is compiled at the end
 * of the stack; so the depth is checked on the flat syntax tree, before anything recurses.
 */
function compose(text: string, path: string, lines: LineCounter, limits: YamlLimits): Document.Parsed[] {
  const tokens = [...syntaxOf(text, path, lines, limits)]
  for (const token of tokens) checkDepth(token, path, lines)
  // uniqueKeys is quadratic in the library; the walk below checks duplicates itself.
  const composer = new Composer({ version: '1.1', intAsBigInt: true, uniqueKeys: false, prettyErrors: false })
  // The library makes an Error of each fault and each unknown tag, and their stacks are most of its time.
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return [...composer.compose(tokens, true, text.length)]
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** Lexer and parser a token at a time, so that the first fault or too much of anything ends the work. */
function* syntaxOf(
  text: string,
  path: string,
  lines: LineCounter,
  limits: YamlLimits,
): Generator<CST.Token, void, undefined> {
  const parser = new Parser(lines.addNewLine)
  const lineAt = (offset: number): number => lines.linePos(offset).line
  const sound = (token: CST.Token): CST.Token => {
    if (token.type === 'error') throw invalid(path, lineAt(token.offset), firstLine(token.message))
    if (token.type === 'document' && ++documents > limits.documents)
      throw invalid(path, lineAt(token.offset), `more than ${limits.documents} documents; split the file`)
    return token
  }
  let documents = 0
  let count = 0
  lines.addNewLine(0)
  for (const lexeme of new Lexer().lex(text)) {
    count += Math.max(1, linesIn(lexeme))
    if (count > limits.tokens)
      throw invalid(path, lines.lineStarts.length, `more than ${limits.tokens} tokens; split the file`)
    for (const token of parser.next(lexeme)) yield sound(token)
  }
  for (const token of parser.end()) yield sound(token)
}

/** A text over many lines is one token of the lexer, and work for each line. */
function linesIn(lexeme: string): number {
  let lines = 0
  for (let at = lexeme.indexOf('\n'); at >= 0; at = lexeme.indexOf('\n', at + 1)) lines += 1
  return lines
}

function checkDepth(root: CST.Token, path: string, lines: LineCounter): void {
  const stack: { token: CST.Token; depth: number }[] = [{ token: root, depth: 0 }]
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    const { token, depth } = at
    // Every level of the document is a token, a document and its root included.
    if (depth > maxDepth)
      throw invalid(path, lines.linePos(token.offset).line, `nested more than ${maxDepth} levels`)
    if (token.type === 'document' && token.value) stack.push({ token: token.value, depth: depth + 1 })
    if (!('items' in token)) continue
    for (const item of token.items) {
      if (item.key) stack.push({ token: item.key, depth: depth + 1 })
      if (item.value) stack.push({ token: item.value, depth: depth + 1 })
    }
  }
}

const firstLine = (message: string): string => (message.split('\n', 1)[0] ?? message).slice(0, 200)

const invalid = (path: string, line: number, what: string) =>
  keelsonError('yaml.invalid', `parse ${path}:${line}: ${what}`, { path, line })

class TreeBuilder {
  private readonly anchors = new Map<string, Node>()
  private readonly open = new Set<Node>()

  constructor(
    private readonly path: string,
    private readonly lines: LineCounter,
    private readonly originAt: LineOrigin,
    private readonly limits: YamlLimits,
    /** What is left for this file: its documents share it. */
    private readonly budget: { values: number },
  ) {}

  build(node: unknown, depth: number): ConfigNode {
    const line = this.lineOf(node)
    this.budget.values -= 1
    if (this.budget.values < 0)
      throw invalid(this.path, line, `more than ${this.limits.values} values, aliases followed`)
    if (depth > maxDepth) throw invalid(this.path, line, `nested more than ${maxDepth} levels`)
    const origin = this.originAt(line)
    if (isAlias(node)) return this.follow(node.source, line, depth)
    if (isScalar(node)) {
      this.remember(node)
      return leaf(scalarValue(node), origin)
    }
    if (!isMap(node) && !isSeq(node)) return leaf(null, origin)
    this.remember(node)
    if (this.open.has(node)) throw invalid(this.path, line, 'an alias contains itself')
    this.open.add(node)
    const built = isMap(node)
      ? objectNode(this.fieldsOf(node.items, depth), origin)
      : leaf(
          node.items.map((item): Json => toJson(this.build(item, depth + 1))),
          origin,
        )
    this.open.delete(node)
    return built
  }

  private remember(node: Node & { anchor?: string }): void {
    if (node.anchor !== undefined) this.anchors.set(node.anchor, node)
  }

  private follow(name: string, line: number, depth: number): ConfigNode {
    const target = this.anchors.get(name)
    if (target === undefined) throw invalid(this.path, line, `unknown anchor *${name.slice(0, 64)}`)
    return this.build(target, depth)
  }

  private fieldsOf(
    pairs: readonly { key: unknown; value: unknown }[],
    depth: number,
  ): Map<string, ConfigNode> {
    const fields = new Map<string, ConfigNode>()
    const merged: ConfigNode[] = []
    for (const { key, value } of pairs) {
      if (isMergeKey(key)) merged.push(...this.mergeSources(value, depth))
      else {
        const name = this.keyName(key)
        if (fields.has(name)) {
          throw invalid(this.path, this.lineOf(key), `key ${JSON.stringify(name.slice(0, 80))} appears twice`)
        }
        const built = this.build(value, depth + 1)
        // The line of the key, not of a value that may begin on the next one.
        fields.set(name, { ...built, origin: this.originAt(this.lineOf(key)) })
      }
    }
    for (const source of merged) {
      if (source.kind !== 'object') continue
      for (const [name, value] of source.fields) if (!fields.has(name)) fields.set(name, value)
    }
    return fields
  }

  private mergeSources(value: unknown, depth: number): ConfigNode[] {
    const sources = isSeq(value) ? value.items : [value]
    return sources.map((source) => {
      const built = this.build(source, depth + 1)
      if (built.kind !== 'object') throw invalid(this.path, this.lineOf(source), '<< needs a mapping')
      return built
    })
  }

  private keyName(key: unknown): string {
    if (isScalar(key)) {
      this.remember(key)
      return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value))
    }
    if (isAlias(key)) {
      const target = this.anchors.get(key.source)
      if (isScalar(target)) return this.keyName(target)
    }
    throw invalid(this.path, this.lineOf(key), 'a key must be a scalar')
  }

  private lineOf(node: unknown): number {
    const range = isAlias(node) || isScalar(node) || isMap(node) || isSeq(node) ? node.range : undefined
    const line = range ? this.lines.linePos(range[0]).line : 1
    return Math.max(1, line)
  }
}

const isMergeKey = (key: unknown): boolean =>
  isScalar(key) && key.source === '<<' && key.type !== Scalar.QUOTE_DOUBLE && key.type !== Scalar.QUOTE_SINGLE

/** Dates, base-60 numbers and binary are text to Kubernetes; integers that fit become numbers. */
function scalarValue(node: Scalar): Json {
  const { value, source = '' } = node
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value
  const plain = node.type === undefined || node.type === Scalar.PLAIN
  if (plain && source.includes(':')) return source
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') {
    const asNumber = Number(value)
    return Number.isSafeInteger(asNumber) ? asNumber : value
  }
  return source
}

/** For messages: what a person would call this value. */
export function describeJson(value: Json): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return text.length > 80 ? `${text.slice(0, 80)}...` : text
}
