// What crosses into the environment of a cell, as JSON.
import type { Cell } from './cells.js'

export interface CellPlan extends Cell {
  /** Paths inside the environment. */
  readonly programs: {
    readonly kubelet: string
    /** The bundle of the command line. */
    readonly keelson: string
    readonly crictl: string
    readonly critest: string
  }
}
