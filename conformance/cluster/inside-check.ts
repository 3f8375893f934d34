// What a program inside a cluster's node environment prints for each of its checks.
export const linePrefix = 'check '

export interface InsideCheck {
  readonly name: string
  readonly problem?: string
}
