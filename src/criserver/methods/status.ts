// Status: in its verbose form the runtime's answer plus one entry of ours, so that `crictl info` shows the cgroup driver
// with its evidence and where our metrics are. The runtime's own bytes stay as they are.
import { StatusRequest, StatusResponse } from '../../cri-api/api.js'
import type { RepairedValue } from '../../stats/repair/repairs.js'
import type { Services } from '../services.js'
import { type CriMethod, runtimePath, tryDecode } from './method.js'

const byReason = (all: readonly RepairedValue[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const { reason, count } of all) counts[reason] = (counts[reason] ?? 0) + count
  return counts
}

/** Our entry of the verbose form, as text. */
export async function describeServer(services: Services, signal: AbortSignal): Promise<string> {
  const found = await services.findDriver(signal)
  return JSON.stringify({
    version: services.version,
    mode: services.mode,
    values: services.repairs.mode,
    repaired: byReason(services.repairs.repaired()),
    cgroupDriver: found.kind === 'known' ? found.driver : null,
    cgroupDriverSource: found.kind === 'known' ? found.source : `unknown: ${found.reason}`,
    cgroupDriverEvidence: found.evidence,
    ...(found.kind === 'known' && found.warning !== undefined ? { cgroupDriverWarning: found.warning } : {}),
    metricsUrl: services.metricsUrl() ?? null,
  })
}

export const status: CriMethod = {
  path: runtimePath('Status'),
  async run(call, services) {
    const request = tryDecode(StatusRequest, await call.readMessage())
    const answer = await call.ask()
    const { message } = answer
    if (
      request?.verbose !== true ||
      message === undefined ||
      tryDecode(StatusResponse, message) === undefined
    )
      return await call.relay(answer)
    // An encoded message appended to another is their merger: one more entry of the map.
    const info = StatusResponse.encode(
      StatusResponse.fromPartial({ info: { keelson: await describeServer(services, call.signal) } }),
    ).finish()
    return await call.reply(Buffer.concat([message, info]), answer)
  },
}
