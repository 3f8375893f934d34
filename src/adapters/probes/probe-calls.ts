// The network side of probes and hooks.
import type { ProbeCalls } from '../../ports/network/probe-calls.js'
import { grpcHealth } from './grpc-health.js'
import { httpGet } from './http-get.js'
import { tcpConnect } from './tcp-connect.js'

export const createProbeCalls = (): ProbeCalls => ({
  get: httpGet,
  connect: tcpConnect,
  health: grpcHealth,
})
