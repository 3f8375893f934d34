/** Of Node, as the packages start it: a bound of V8's space for new objects, in MiB. Why: src/cli/process/small-heap.ts. */
export const nodeFlag = '--max-semi-space-size=4'
