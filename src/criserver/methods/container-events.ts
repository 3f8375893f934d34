// GetContainerEvents: the runtime's own stream, or events made from its lists where it has none.
import { grpcCode } from '../../core/cri/grpc-codes.js'
import { type CriMethod, runtimePath } from './method.js'

export const containerEvents: CriMethod = {
  path: runtimePath('GetContainerEvents'),
  streams: true,
  async run(call, { events, table }) {
    const passed = await call.passOnUnless(grpcCode.unimplemented)
    if (!('refused' in passed)) return passed
    table.noteMissing(call.path)
    return await call.replyStream(await events.subscribe(call.signal))
  },
}
