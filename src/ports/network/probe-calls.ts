// What probes and hooks send over the network: one request on one connection, ended by its deadline. An answer is data; who
// sent it decides what it means.

export interface ProbeTarget {
  readonly host: string
  readonly port: number
}

export interface GetRequest extends ProbeTarget {
  readonly tls: boolean
  /** With the query; begins with a slash. */
  readonly path: string
  /** Name and value in turns; the same name may come again. */
  readonly headers: readonly string[]
}

export type GetAnswer =
  | {
      readonly kind: 'answer'
      readonly status: number
      readonly location: string | undefined
      /** At most 10 KiB of it. */
      readonly body: string
    }
  /** No answer; `plain`: an HTTP answer where TLS was asked for. */
  | { readonly kind: 'failed'; readonly why: 'timeout' | 'plain' | 'other'; readonly message: string }
  /** The answer began and did not end in time. */
  | { readonly kind: 'cut-off'; readonly message: string }

export type HealthAnswer =
  /** A number of grpc.health.v1.HealthCheckResponse.ServingStatus. */
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'refused'; readonly code: number; readonly message: string }
  | { readonly kind: 'not-connected'; readonly why: 'timeout' | 'other'; readonly message: string }
  | { readonly kind: 'timeout' }

export interface ProbeCalls {
  get(request: GetRequest, timeoutMs: number, signal: AbortSignal): Promise<GetAnswer>
  /** Undefined: connected. */
  connect(target: ProbeTarget, timeoutMs: number, signal: AbortSignal): Promise<string | undefined>
  /** grpc.health.v1.Health/Check without TLS. */
  health(
    target: ProbeTarget,
    request: { readonly service: string; readonly userAgent: string },
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<HealthAnswer>
}
