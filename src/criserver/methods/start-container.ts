// StartContainer: forwarded; containerd makes the cgroup only now, so now `unified` can be checked.
import { StartContainerRequest } from '../../cri-api/api.js'
import { tryDecode } from '../wire.js'
import { type CriMethod, runtimePath } from './method.js'

export const startContainer: CriMethod = {
  path: runtimePath('StartContainer'),
  async run(call, { unified }) {
    const { containerId = '' } = tryDecode(StartContainerRequest, await call.readMessage()) ?? {}
    const answer = await call.ask().catch((e: unknown) => {
      if (unified.isKnown(containerId)) void unified.enforceLater(containerId)
      throw e
    })
    if (answer.message !== undefined && unified.isKnown(containerId)) await unified.enforce(containerId)
    return await call.relay(answer)
  },
}
