// Reads the code as text: which file imports what from which other file, and what a file exports. Enough for code that a
// formatter has written; no compiler is started.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '../..')

/** Paths from the repository's root. */
export const sources = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((f) => /\.(tsx?|mjs)$/.test(f) && !/\.d\.m?ts$|node_modules\//.test(f))
    .map((f) => join(folder, f))
    .sort()

export const isTest = (file: string): boolean => file.endsWith('.test.ts')

const texts = new Map<string, string>()
export function textOf(file: string): string {
  const known = texts.get(file)
  if (known !== undefined) return known
  const text = readFileSync(join(root, file), 'utf8')
  texts.set(file, text)
  return text
}

export interface Import {
  /** A path from the repository's root; only files of ours are here. */
  readonly target: string
  /** Nothing of it is left when the program runs. */
  readonly typeOnly: boolean
  /** As the other file calls them. `*`: all of them. */
  readonly names: readonly string[]
}

const statement =
  /(?:^|\n)\s*(?:import|export)\s+(type\s+)?(?:([^'"();]*?)\s+from\s+)?['"](\.[^'"]+)['"]|(\{[^{}=]*\}\s*=\s*)?\(?(?:await\s+)?\bimport\(\s*['"](\.[^'"]+)['"]\s*\)\)?(?:\.(\w+))?/g

/** `{ type A, b as c }` of an import or an export: what the other file calls them. */
const namesIn = (clause: string): readonly { name: string; isType: boolean }[] => {
  if (clause.includes('*')) return [{ name: '*', isType: false }]
  const listed = /\{([^}]*)\}/.exec(clause)?.[1] ?? ''
  const named = listed.split(',').flatMap((part) => {
    const [, type, name] = /^\s*(type\s+)?(\w+)/.exec(part) ?? []
    return name === undefined ? [] : [{ name, isType: type !== undefined }]
  })
  return /^\s*\w+/.test(clause) ? [...named, { name: 'default', isType: false }] : named
}

/** `./x.js` is written for `x.ts` and `x.tsx` alike. */
function fileOf(from: string, specifier: string, known: ReadonlySet<string>): string | undefined {
  const path = relative(root, resolve(root, dirname(from), specifier))
  return [path, path.replace(/\.js$/, '.ts'), path.replace(/\.js$/, '.tsx')].find((p) => known.has(p))
}

export function importsOf(file: string, known: ReadonlySet<string>): readonly Import[] {
  return [...textOf(file).matchAll(statement)].flatMap((m) => {
    const [, type, clause, fixed, taken, loaded, member] = m
    const target = fileOf(file, fixed ?? loaded ?? '', known)
    if (target === undefined) return []
    if (loaded !== undefined) {
      const names = taken === undefined ? [member ?? '*'] : namesIn(taken).map((n) => n.name)
      return [{ target, typeOnly: false, names: names.includes('then') ? ['*'] : names }]
    }
    const names = namesIn(clause ?? '')
    const typeOnly = type !== undefined || (names.length > 0 && names.every((n) => n.isType))
    return [{ target, typeOnly, names: names.map((n) => n.name) }]
  })
}

/** Names that a file exports itself; what it hands on from another file is not among them. */
export const exportsOf = (file: string): readonly string[] =>
  [
    ...textOf(file).matchAll(
      /^export\s+(?:declare\s+)?(?:async\s+)?(?:abstract\s+)?(?:const|let|function\*?|class|interface|type|enum)\s+(\w+)/gm,
    ),
  ].map((m) => m[1] ?? '')

/** Every file that the program of `entry` may load. */
export function reachedFrom(entry: string, known: ReadonlySet<string>): ReadonlySet<string> {
  const reached = new Set([entry])
  for (const file of reached)
    for (const { target, typeOnly } of importsOf(file, known)) if (!typeOnly) reached.add(target)
  return reached
}
