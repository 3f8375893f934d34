// Everything that nobody above took: to the runtime as it is, and back as it is.

import { grpcCode } from '../../core/cri/grpc-codes.js'
import type { Step } from '../services.js'

export const passThrough: Step =
  ({ table }) =>
  async (call) => {
    const ending = await call.passOn()
    if (ending.code === grpcCode.unimplemented) table.noteMissing(call.path)
    return ending
  }
