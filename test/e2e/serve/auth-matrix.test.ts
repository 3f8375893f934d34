import { describeAuthMatrix } from './auth-matrix.js'
import { startStandIn } from './start.js'

describeAuthMatrix({
  kubelet: { start: startStandIn },
  companion: { start: startStandIn },
  cri: { start: startStandIn },
})
