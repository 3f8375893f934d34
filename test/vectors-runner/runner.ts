// Runs vector files: finds the suite of each, runs its cases one after the other, collects what differs.
import { readFile } from 'node:fs/promises'
import { suites as allSuites } from './suites/index.js'
import { type Difference, isFields, type Suite, type VectorCase, type VectorFile } from './types.js'

export interface CaseResult {
  readonly file: string
  readonly id: string
  /** Empty: passed. */
  readonly differences: readonly Difference[]
  /** Why the case could not be run at all. */
  readonly error?: string
}

export const isPassed = (result: CaseResult): boolean =>
  result.error === undefined && result.differences.length === 0

const caseDeadlineMs = 120_000

export async function runVectorFile(
  path: string,
  suites: readonly Suite[] = allSuites,
): Promise<CaseResult[]> {
  let file: unknown
  try {
    file = JSON.parse((await readFile(path, 'utf8')).replace(/^\uFEFF/, ''))
  } catch (e) {
    return [{ file: path, id: '(file)', differences: [], error: messageOf(e) }]
  }
  if (!isFields(file)) return [{ file: path, id: '(file)', differences: [], error: 'is not a JSON object' }]
  return runVectors(path, file, suites)
}

export async function runVectors(
  path: string,
  file: VectorFile,
  suites: readonly Suite[] = allSuites,
): Promise<CaseResult[]> {
  const suite = suites.find((s) => s.suite === suiteOf(file))
  if (suite === undefined) return refuse(path, file, whyNotRun(file))
  const list = suite.cases?.(file) ?? listedCases(file)
  if (list.length === 0) return refuse(path, file, 'the file has no cases')
  const results: CaseResult[] = []
  for (const vector of list) results.push(await runCase(path, suite, vector, file))
  return results
}

/** The catalogue of metrics names no suite: it is known by its list. */
const suiteOf = (file: VectorFile): unknown =>
  file['suite'] ?? (Array.isArray(file['metrics']) ? 'cadvisor-metrics' : undefined)

const whyNotRun = (file: VectorFile): string =>
  file['suite'] === undefined
    ? 'the file names no suite, so nothing says how to run it'
    : `the suite ${JSON.stringify(file['suite'])} is not supported`

/** Cases that cannot be run count as failed, each of them; a file without a list counts as one. */
function refuse(path: string, file: VectorFile, error: string): CaseResult[] {
  const list = listedCases(file)
  const ids = list.length === 0 ? ['(file)'] : list.map(idOf)
  return ids.map((id) => ({ file: path, id, differences: [], error }))
}

const listedCases = (file: VectorFile): readonly VectorCase[] =>
  Array.isArray(file['cases']) ? file['cases'].map((c: unknown) => (isFields(c) ? c : {})) : []

const idOf = (vector: VectorCase): string => {
  const id = vector['id'] ?? vector['name']
  return typeof id === 'string' ? id : '(no id)'
}

async function runCase(
  path: string,
  suite: Suite,
  vector: VectorCase,
  file: VectorFile,
): Promise<CaseResult> {
  const id = idOf(vector)
  try {
    const differences = await withDeadline(async () => suite.run(vector, file))
    return { file: path, id, differences }
  } catch (e) {
    return { file: path, id, differences: [], error: messageOf(e) }
  }
}

async function withDeadline<T>(work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no result within ${caseDeadlineMs} ms`)), caseDeadlineMs)
  })
  try {
    return await Promise.race([work(), late])
  } finally {
    clearTimeout(timer)
  }
}

const messageOf = (e: unknown): string => (e instanceof Error ? e.message : String(e))
