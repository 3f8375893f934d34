// Everything that nobody above took: to the runtime as it is, and back as it is.

import type { Step } from '../chain.js'
import { codes } from '../codes.js'

export const passThrough: Step =
  ({ table }) =>
  async (call) => {
    const ending = await call.passOn()
    if (ending.code === codes.unimplemented) table.noteMissing(call.path)
    return ending
  }
