// The doctor's checks, in the order in which they run and are shown: the machine, the runtime, the kubelet, its cluster,
// the pods. Earlier findings explain later ones.
import type { Check } from '../check.js'
import type { DoctorFacts } from '../facts.js'
import { apiServer } from './api-server.js'
import { capacity } from './capacity.js'
import { cgroupDriver } from './cgroup-driver.js'
import { cgroupV2 } from './cgroup-v2.js'
import { clientCertificate } from './client-certificate.js'
import { clockSkew } from './clock-skew.js'
import { config } from './config.js'
import { controllers } from './controllers.js'
import { eviction } from './eviction.js'
import { kernel } from './kernel.js'
import { kubeletAuth } from './kubelet-auth.js'
import { kubeletFiles } from './kubelet-files.js'
import { kubeletPorts } from './kubelet-ports.js'
import { kubeletSkew } from './kubelet-skew.js'
import { leftoverPodTree } from './leftover-pod-tree.js'
import { livelock } from './livelock.js'
import { metrics } from './metrics.js'
import { nodeConditions } from './node-conditions.js'
import { nodeLease } from './node-lease.js'
import { oomKills } from './oom-kills.js'
import { protectionChain } from './protection-chain.js'
import { psi } from './psi.js'
import { runtimeAnswers } from './runtime-answers.js'
import { runtimeConfig } from './runtime-config.js'
import { runtimeStatus } from './runtime-status.js'
import { runtimeSupport } from './runtime-support.js'
import { runtimeValues } from './runtime-values.js'
import { severalRuntimes } from './several-runtimes.js'
import { sockets } from './sockets.js'
import { staleEndpointFlag } from './stale-endpoint-flag.js'
import { staleValues } from './stale-values.js'
import { swap } from './swap.js'
import { throttling } from './throttling.js'
import { unifiedSupport } from './unified-support.js'

export const checks: readonly Check<DoctorFacts>[] = [
  cgroupV2,
  controllers,
  kernel,
  psi,
  swap,
  runtimeAnswers,
  runtimeStatus,
  severalRuntimes,
  runtimeConfig,
  runtimeSupport,
  unifiedSupport,
  metrics,
  runtimeValues,
  sockets,
  staleEndpointFlag,
  config,
  kubeletSkew,
  kubeletAuth,
  kubeletPorts,
  kubeletFiles,
  apiServer,
  clientCertificate,
  clockSkew,
  nodeLease,
  nodeConditions,
  cgroupDriver,
  leftoverPodTree,
  capacity,
  eviction,
  protectionChain,
  staleValues,
  throttling,
  livelock,
  oomKills,
]
