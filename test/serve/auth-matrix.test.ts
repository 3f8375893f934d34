import { describeAuthMatrix } from './auth-matrix.js'
import { startRealCompanion, startRealCri } from './start-commands.js'
import { startRealKubelet } from './start-kubelet.js'

/** Nothing runs, shows or changes a container, but the kubelet. */
const lacks = /^\/(exec|attach|portForward|run|containerLogs|logs|checkpoint|debug|pods|runningpods)\//

describeAuthMatrix({
  kubelet: { start: startRealKubelet },
  companion: { start: startRealCompanion, serves: ['/memoryqos'], lacks },
  cri: { start: startRealCri, serves: ['/cri/rpcs'], lacks },
})
