// RuntimeConfig: the runtime's own answer where it has one; otherwise the driver that we know for certain.

import { grpcCode } from '../../core/cri/grpc-codes.js'
import { CgroupDriver, RuntimeConfigResponse } from '../../cri-api/api.js'
import type { Services } from '../services.js'
import { type CriMethod, runtimePath } from './method.js'

const numbers = { systemd: CgroupDriver.SYSTEMD, cgroupfs: CgroupDriver.CGROUPFS } as const

/** For a runtime that does not say it. Undefined: the driver is not certain. */
export async function findConfig(
  { findDriver, log }: Pick<Services, 'findDriver' | 'log'>,
  signal: AbortSignal,
): Promise<RuntimeConfigResponse | undefined> {
  const found = await findDriver(signal)
  const { evidence } = found
  if (found.kind === 'unknown') {
    log.error('the cgroup driver of the runtime is not certain; RuntimeConfig stays unimplemented', {
      reason: found.reason,
      evidence,
      remedy: 'fix the contradiction, or set --cgroup-driver',
    })
    return undefined
  }
  if (found.warning !== undefined)
    log.warn('the configured cgroup driver contradicts what the node shows', {
      cgroupDriver: found.driver,
      against: found.warning,
    })
  log.info('answered RuntimeConfig for the runtime', {
    cgroupDriver: found.driver,
    source: found.source,
    evidence,
  })
  return RuntimeConfigResponse.fromPartial({ linux: { cgroupDriver: numbers[found.driver] } })
}

export const runtimeConfig: CriMethod = {
  path: runtimePath('RuntimeConfig'),
  async run(call, services) {
    const answer = await call.ask()
    if (answer.code !== grpcCode.unimplemented) return await call.relay(answer)
    services.table.noteMissing(call.path)
    const config = await findConfig(services, call.signal)
    if (config === undefined) return await call.relay(answer)
    return await call.reply(RuntimeConfigResponse.encode(config).finish())
  },
}
