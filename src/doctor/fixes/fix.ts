// A fix: the safe part of a remedy as a plan, made from the same facts as the finding. Nothing here acts; the command
// carries steps out, and only for checks that the user named.
import type { DoctorFacts } from '../facts.js'

export type FixStep =
  | { readonly kind: 'write'; readonly cgroup: string; readonly file: string; readonly value: string }
  | { readonly kind: 'remove-empty'; readonly cgroup: string }
  | { readonly kind: 'mode'; readonly path: string; readonly mode: number }

export interface Fix {
  /** The check whose finding it fixes. */
  readonly check: string
  readonly does: string
  plan(facts: DoctorFacts): readonly FixStep[]
}

export function formatStep(step: FixStep): string {
  switch (step.kind) {
    case 'write':
      return `write ${step.file}=${step.value} to ${step.cgroup}`
    case 'remove-empty':
      return `remove the empty cgroup ${step.cgroup}`
    case 'mode':
      return `chmod ${step.mode.toString(8).padStart(4, '0')} ${step.path}`
  }
}
