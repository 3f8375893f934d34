export interface BuiltProgram {
  readonly inputs: readonly string[]
  readonly externals: readonly string[]
}
export function buildProgram(options: {
  readonly out: string
  readonly types?: boolean
}): Promise<BuiltProgram>
