// RuntimeConfig: the runtime's own answer where it has one; otherwise the driver that we know for certain.

import { grpcCode } from '../../core/cri/grpc-codes.js'
import { CgroupDriver, RuntimeConfigResponse } from '../../cri-api/api.js'
import { type CriMethod, runtimePath } from './method.js'

const numbers = { systemd: CgroupDriver.SYSTEMD, cgroupfs: CgroupDriver.CGROUPFS } as const

export const runtimeConfig: CriMethod = {
  path: runtimePath('RuntimeConfig'),
  async run(call, { findDriver, log, table }) {
    const answer = await call.ask()
    if (answer.code !== grpcCode.unimplemented) return await call.relay(answer)
    table.noteMissing(call.path)
    const found = await findDriver(call.signal)
    const { evidence } = found
    if (found.kind === 'unknown') {
      log.error('the cgroup driver of the runtime is not certain; RuntimeConfig stays unimplemented', {
        reason: found.reason,
        evidence,
        remedy: 'fix the contradiction, or set --cgroup-driver',
      })
      return await call.relay(answer)
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
    const linux = { cgroupDriver: numbers[found.driver] }
    return await call.reply(
      RuntimeConfigResponse.encode(RuntimeConfigResponse.fromPartial({ linux })).finish(),
    )
  },
}
