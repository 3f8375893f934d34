// RemoveContainer: forwarded; what was noted about the container goes with it.
import { RemoveContainerRequest } from '../../cri-api/api.js'
import { tryDecode } from '../wire.js'
import { type CriMethod, runtimePath } from './method.js'

export const removeContainer: CriMethod = {
  path: runtimePath('RemoveContainer'),
  async run(call, { unified }) {
    const { containerId = '' } = tryDecode(RemoveContainerRequest, await call.readMessage()) ?? {}
    const answer = await call.ask()
    if (answer.message !== undefined) unified.forget(containerId)
    return await call.relay(answer)
  },
}
