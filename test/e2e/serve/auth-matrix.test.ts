import { describeAuthMatrix } from './auth-matrix.js'
import { startStandIn } from './start.js'
import { startRealKubelet } from './start-kubelet.js'

const standIn = { start: startStandIn, standIns: true, reviewTimeoutMs: 2500 }

describeAuthMatrix({
  kubelet: { start: startRealKubelet, standIns: false, reviewTimeoutMs: 10_000 },
  companion: standIn,
  cri: standIn,
})
