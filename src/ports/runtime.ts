// The container runtime as the rest of Keelson sees it: both CRI services with every method typed from the
// generated definitions, and the state of the connection. How calls travel is the adapter's business.
import type {
  ContainerState,
  DeepPartial,
  ImageServiceDefinition,
  Metric,
  PodSandboxState,
  RuntimeServiceDefinition,
} from '../cri-api/api.js'

export interface CallOptions {
  /** Whole time of the call, connecting included. Only a server stream may have `Infinity`. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** While the runtime is unreachable: wait for it until the deadline, instead of failing at once. */
  readonly waitForReady?: boolean
}

interface MethodDefinition {
  readonly name: string
  readonly requestType: { decode(input: Uint8Array): unknown }
  readonly responseType: { decode(input: Uint8Array): unknown }
  readonly responseStream: boolean
}
interface ServiceDefinition {
  readonly fullName: string
  readonly methods: Readonly<Record<string, MethodDefinition>>
}

/** What may be passed as a request: fields left out have their protobuf default. */
export type RequestOf<M extends MethodDefinition> = DeepPartial<ReturnType<M['requestType']['decode']>>
export type ResponseOf<M extends MethodDefinition> = ReturnType<M['responseType']['decode']>

type Call<M extends MethodDefinition> = M['responseStream'] extends true
  ? (request: RequestOf<M>, options?: CallOptions) => AsyncIterable<ResponseOf<M>>
  : (request: RequestOf<M>, options?: CallOptions) => Promise<ResponseOf<M>>

type Service<D extends ServiceDefinition> = { readonly [K in keyof D['methods']]: Call<D['methods'][K]> }

export type RuntimeService = Service<RuntimeServiceDefinition>
export type ImageService = Service<ImageServiceDefinition>

/** `backoff`: the last attempt to connect failed and the next one is due within the bounded wait. */
export type ConnectionState = 'idle' | 'connecting' | 'ready' | 'backoff' | 'closed'

interface RuntimeConnection {
  readonly endpoint: string
  readonly socketPath: string
  readonly state: ConnectionState
  /** Called on each change, in order. Returns the unsubscribe function. */
  onState(listener: (state: ConnectionState) => void): () => void
  /** Ends calls under way with `runtime.cancelled` and lets go of the socket. */
  close(): void
}

/** State by id of all that the runtime lists, and nothing else of it: cheap enough for a look each second. */
export interface RuntimeStates {
  sandboxes(options?: CallOptions): Promise<ReadonlyMap<string, PodSandboxState>>
  containers(options?: CallOptions): Promise<ReadonlyMap<string, ContainerState>>
}

/** Metrics of pods and containers that are read on each iteration, so that 13,000 objects need not be kept. */
export interface PodMetrics {
  readonly podSandboxId: string
  readonly metrics: Iterable<Metric>
  readonly containerMetrics: readonly { readonly containerId: string; readonly metrics: Iterable<Metric> }[]
}

export interface RuntimeMetrics {
  /** ListPodSandboxMetrics. Going through metrics that are no messages throws `runtime.failed`. */
  list(options?: CallOptions): Promise<readonly PodMetrics[]>
  /** StreamPodSandboxMetrics. */
  stream(options?: CallOptions): AsyncIterable<readonly PodMetrics[]>
}

export interface CriClient extends RuntimeConnection {
  readonly runtime: RuntimeService
  readonly image: ImageService
  readonly states: RuntimeStates
  readonly metrics: RuntimeMetrics
}

/** Details of every `runtime.*` error that came out of a call. */
export interface RuntimeErrorDetails {
  readonly method: string
  readonly socket: string
  /** The gRPC code by name, as `UNAVAILABLE`. */
  readonly grpcCode: string
  /** The text of the status, as the runtime or the transport gave it. */
  readonly grpcMessage: string
  /** The runtime's `grpc-status-details-bin`, where it sent one. */
  readonly statusDetails?: Uint8Array
}
