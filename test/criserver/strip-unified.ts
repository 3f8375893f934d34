// A filter in front of a runtime that strips `unified`, as an old runtime drops it. Everything else passes.
import { startCriServer } from '../../src/adapters/cri/server/server.js'
import { CreateContainerRequest, UpdateContainerResourcesRequest } from '../../src/cri-api/api.js'
import type { ServerCall } from '../../src/ports/cri-calls.js'

async function strip(call: ServerCall): Promise<Uint8Array | undefined> {
  if (call.path.endsWith('/CreateContainer')) {
    const request = CreateContainerRequest.decode(await call.readMessage())
    if (request.config?.linux?.resources !== undefined) request.config.linux.resources.unified = {}
    return CreateContainerRequest.encode(request).finish()
  }
  if (call.path.endsWith('/UpdateContainerResources')) {
    const request = UpdateContainerResourcesRequest.decode(await call.readMessage())
    if (request.linux !== undefined) request.linux.unified = {}
    return UpdateContainerResourcesRequest.encode(request).finish()
  }
  return undefined
}

export const startStrippingFilter = (upstream: string, listen: string): ReturnType<typeof startCriServer> =>
  startCriServer({
    listen,
    upstream,
    onError: () => {},
    async handle(call) {
      const message = await strip(call)
      return message === undefined ? await call.passOn() : await call.relay(await call.ask(message))
    },
  })
