// One finding of a validation: where, what, and what to do about it. Validations return all of them.
export interface Problem {
  readonly path: string
  readonly message: string
  readonly remedy: string
}
