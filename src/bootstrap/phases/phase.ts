// A phase: a named piece of a command that the runner lists, runs alone or leaves out. It only adds to the plan.
import type { PhaseContext } from '../context.js'
import type { PlanPart } from '../plan.js'

export interface Phase {
  readonly name: string
  readonly help: string
  /** Without one the phase takes no --cri-socket, dials nothing and assumes the default. */
  readonly usesSocket: boolean
  /** Asks the preflight checks instead of planning something. */
  readonly checks?: true
  plan?(ctx: PhaseContext): PlanPart
  readonly phases?: readonly Phase[]
}
