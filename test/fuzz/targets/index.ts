// The parsers that are fuzzed.
import type { FuzzTarget } from '../types.js'
import { cgroupNames } from './cgroup-names.js'
import { config } from './config.js'
import { manifests } from './manifests.js'
import { pods } from './pods.js'
import { quantity } from './quantity.js'
import { unixSockets } from './unix-sockets.js'

export const targets: readonly FuzzTarget[] = [quantity, cgroupNames, config, pods, manifests, unixSockets]
