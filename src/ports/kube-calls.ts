// The few calls a node makes to the API server: who is this token, may this user do that, note this event.
// Every call has a deadline; failing to ask is an error, a "no" is a value.

export interface ReviewedUser {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

export interface AccessQuestion {
  readonly user: ReviewedUser
  readonly verb: string
  readonly resource: string
  readonly subresource: string
  readonly name: string
}

export interface AccessVerdict {
  readonly allowed: boolean
  readonly reason?: string
}

export interface NodeEvent {
  readonly namespace: string
  readonly name: string
  readonly involved: {
    readonly kind: string
    readonly name: string
    readonly uid: string
    /** The part of the object: `spec.containers{web}`. */
    readonly fieldPath?: string
  }
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  readonly annotations?: Readonly<Record<string, string>>
  readonly component: string
  readonly host: string
  readonly firstMs: number
  readonly lastMs: number
  readonly count: number
}

export interface KubeCalls {
  /** The user behind a token; undefined: the API server does not know it. */
  reviewToken(token: string, signal: AbortSignal): Promise<ReviewedUser | undefined>
  reviewAccess(question: AccessQuestion, signal: AbortSignal): Promise<AccessVerdict>
  createEvent(event: NodeEvent, signal: AbortSignal): Promise<void>
  /** Count, time and message of an Event that exists; false: it does not. */
  patchEvent(event: NodeEvent, signal: AbortSignal): Promise<boolean>
}
