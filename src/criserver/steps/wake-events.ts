// After a call that changes sandboxes or containers, container events are looked for at once.
import { grpcCode } from '../../core/cri/grpc-codes.js'
import { runtimePath } from '../methods/method.js'
import type { Step } from '../services.js'

const changing: ReadonlySet<string> = new Set(
  [
    'RunPodSandbox',
    'StopPodSandbox',
    'RemovePodSandbox',
    'CreateContainer',
    'StartContainer',
    'StopContainer',
    'RemoveContainer',
  ].map(runtimePath),
)

export const wakeEvents: Step =
  ({ events }) =>
  async (call, next) => {
    const ending = await next(call)
    if (ending.code === grpcCode.ok && changing.has(call.path)) events.wake()
    return ending
  }
