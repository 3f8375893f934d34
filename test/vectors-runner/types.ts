// The shape of a vector file and of the suites that run one. A suite is a line in suites/index.ts.

export type Fields = Readonly<Record<string, unknown>>

/** The whole JSON object: `suite`, `about`, perhaps `defaults`, and either `cases` or the fields of one case. */
export type VectorFile = Fields

/** One case as it stands in the file; `id` names it in reports. */
export type VectorCase = Fields

export interface Difference {
  /** Dotted path below `expected`, or empty for the case as a whole. */
  readonly path: string
  readonly expected: unknown
  readonly got: unknown
}

export interface Suite {
  readonly suite: string
  /** Suites whose files are one case each return the file itself here; without it `cases` is the list. */
  cases?(file: VectorFile): readonly VectorCase[]
  run(vector: VectorCase, file: VectorFile): readonly Difference[] | Promise<readonly Difference[]>
}

export const isFields = (v: unknown): v is Fields => typeof v === 'object' && v !== null && !Array.isArray(v)

/** For parts of a case that its kind requires; a vector without them is broken and fails by name. */
export function fieldsAt(of: Fields, key: string): Fields {
  const found = of[key]
  if (!isFields(found)) throw new Error(`the vector has no object ${JSON.stringify(key)}`)
  return found
}

export function textAt(of: Fields, key: string): string {
  const found = of[key]
  if (typeof found !== 'string') throw new Error(`the vector has no text ${JSON.stringify(key)}`)
  return found
}

/** `input` of a case over the file's `defaults`, key by key; `usual` is what a file without them means. */
export const inputWithDefaults = (vector: VectorCase, file: VectorFile, usual: Fields): Fields => ({
  ...usual,
  ...(isFields(file['defaults']) ? file['defaults'] : {}),
  ...fieldsAt(vector, 'input'),
})
