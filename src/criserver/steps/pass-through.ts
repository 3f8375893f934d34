// Every other call: forwarded to the runtime unchanged, and its answer back.

import { grpcCode } from '../../core/cri/grpc-codes.js'
import type { Step } from '../services.js'

export const passThrough: Step =
  ({ table }) =>
  async (call) => {
    const ending = await call.passOn()
    if (ending.code === grpcCode.unimplemented) table.noteMissing(call.path)
    return ending
  }
