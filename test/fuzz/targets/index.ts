// The parsers that are fuzzed.
import type { FuzzTarget } from '../types.js'
import { cgroupNames } from './cgroup-names.js'
import { config } from './config.js'
import { endpoint } from './endpoint.js'
import { envFile } from './env-file.js'
import { grpcAnswer } from './grpc-answer.js'
import { healthAnswer } from './health-answer.js'
import { kubeconfig } from './kubeconfig.js'
import { labelSelector } from './label-selector.js'
import { manifests } from './manifests.js'
import { oomKill } from './oom-kill.js'
import { pods } from './pods.js'
import { quantity } from './quantity.js'
import { registryDocuments } from './registry-documents.js'
import { strategicPatch } from './strategic-patch.js'
import { unixSockets } from './unix-sockets.js'
import { volumes } from './volumes.js'
import { watchStream } from './watch-stream.js'
import { websocketFrames } from './websocket-frames.js'
import { yaml } from './yaml.js'

export const targets: readonly FuzzTarget[] = [
  oomKill,
  quantity,
  cgroupNames,
  config,
  yaml,
  pods,
  manifests,
  envFile,
  registryDocuments,
  volumes,
  endpoint,
  unixSockets,
  kubeconfig,
  watchStream,
  strategicPatch,
  labelSelector,
  healthAnswer,
  grpcAnswer,
  websocketFrames,
]
