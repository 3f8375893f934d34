// What a scripted runtime may say to a call, and the helpers that name the odd cases. A script is a list of
// answers for one method: one per call, and the last one for every call after it.
import type { GrpcCodeName } from '../../core/cri/grpc-codes.js'
import type { DeepPartial, ImageServiceDefinition, RuntimeServiceDefinition } from '../../cri-api/api.js'
import type { RequestOf, ResponseOf } from '../../ports/runtime.js'

export interface StatusSaid {
  readonly code: GrpcCodeName
  readonly message?: string
  /** Sent as grpc-status-details-bin. */
  readonly statusDetails?: Uint8Array
}

/** How the connection ends: `mid-answer` after half of the answer's bytes. */
type Drop = 'before-headers' | 'mid-answer'

/** Answers of one method whose message type is S. `delayMs` waits before the first byte. */
export type Said<S> = { readonly delayMs?: number } & (
  | { readonly value: DeepPartial<S>; readonly appendBytes?: Uint8Array; readonly drop?: 'mid-answer' }
  | {
      readonly values: Iterable<DeepPartial<S>> | AsyncIterable<DeepPartial<S>>
      readonly ending?: 'hang' | 'drop' | StatusSaid
    }
  | StatusSaid
  | { readonly hang: true | 'after-headers' }
  | { readonly drop: Drop }
  /** RST_STREAM with this HTTP/2 error code. */
  | { readonly reset: number }
  /** A message body of our own making, framed as it should be. */
  | { readonly bytes: Uint8Array }
  /** The HTTP/2 body as it is: frames may lie about their length or be cut off. */
  | { readonly body: Uint8Array }
  /** An HTTP answer that is not gRPC. */
  | { readonly http: number }
)

interface Asked {
  /** 0 for the first call of this method. */
  readonly nth: number
  /** Aborted when the caller went away. */
  readonly signal: AbortSignal
}

export type Answer<Q, S> = Said<S> | ((request: Q, asked: Asked) => Said<S> | Promise<Said<S>>)

type Methods = RuntimeServiceDefinition['methods'] & ImageServiceDefinition['methods']
type ByName = { [K in keyof Methods as Methods[K]['name']]: Methods[K] }
export type MethodName = keyof ByName
export type RequestTo<N extends MethodName> = ReturnType<ByName[N]['requestType']['decode']>
export type AnswerOf<N extends MethodName> = Answer<RequestTo<N>, ResponseOf<ByName[N]>>
export type PartialRequestTo<N extends MethodName> = RequestOf<ByName[N]>

/** By the RPC's name. A method without a script answers UNIMPLEMENTED, as a runtime that does not know it. */
export type Scripts = { readonly [N in MethodName]?: AnswerOf<N> | readonly AnswerOf<N>[] }
