// UpdateContainerResources: forwarded; values of `unified` that the runtime drops are written, and those that the update
// does not name stay what they were.
import { UpdateContainerResourcesRequest } from '../../cri-api/api.js'
import { tryDecode } from '../wire.js'
import { type CriMethod, runtimePath } from './method.js'

export const updateContainerResources: CriMethod = {
  path: runtimePath('UpdateContainerResources'),
  async run(call, { unified }) {
    const request = tryDecode(UpdateContainerResourcesRequest, await call.readMessage())
    if (request === undefined) return await call.relay(await call.ask())
    const { containerId, linux } = request
    const named = linux?.unified ?? {}
    const before = unified.isKnown(containerId) ? await unified.snapshot(containerId, call.signal) : {}
    const answer = await call.ask()
    if (answer.message !== undefined) {
      unified.remember(containerId, named)
      const wanted = { ...before, ...named }
      await unified.restore(containerId, wanted, call.signal)
    }
    return await call.relay(answer)
  },
}
