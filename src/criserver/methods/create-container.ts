// CreateContainer: forwarded; `unified` is noted, and written for runtimes that made the cgroup and left it out.
import { CreateContainerRequest, CreateContainerResponse } from '../../cri-api/api.js'
import { tryDecode } from '../wire.js'
import { type CriMethod, runtimePath } from './method.js'

export const createContainer: CriMethod = {
  path: runtimePath('CreateContainer'),
  async run(call, { unified }) {
    const request = tryDecode(CreateContainerRequest, await call.readMessage())
    const wanted = request?.config?.linux?.resources?.unified ?? {}
    const answer = await call.ask()
    const created = tryDecode(CreateContainerResponse, answer.message)
    if (created !== undefined && Object.keys(wanted).length > 0) {
      unified.remember(created.containerId, wanted)
      await unified.enforce(created.containerId)
    }
    return await call.relay(answer)
  },
}
