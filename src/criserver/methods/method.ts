// The shape of one RPC that we complete or answer. A method is one file here and one line in index.ts.
import type { CallEnding, ServerCall } from '../../ports/cri-calls.js'
import type { Services } from '../services.js'

export interface CriMethod {
  readonly path: string
  /** A server stream: its answer is not held whole. */
  readonly streams?: boolean
  run(call: ServerCall, services: Services): Promise<CallEnding>
  /** Names of what the runtime's message lacks, for observe mode. */
  missingFields?(message: Uint8Array): readonly string[]
}

export const runtimePath = (rpc: string): string => `/runtime.v1.RuntimeService/${rpc}`
export const imagePath = (rpc: string): string => `/runtime.v1.ImageService/${rpc}`
