// When a service account token is asked for again, and until when it is used. Its age counts, by the clock that shows more of
// it: a clock that was set back must not make a token outlive itself.

export interface Clocks {
  readonly wallMs: number
  readonly monotonicMs: number
}

interface TokenLife {
  readonly issued: Clocks
  /** By the API server: its own clock may differ from the node's. */
  readonly lifeMs: number
  /** 0 to 1, drawn once per token: a thousand pods must not ask in one moment. */
  readonly random: number
}

const day = 24 * 60 * 60 * 1000
const jitterMs = 10_000

const ageOf = ({ issued }: TokenLife, now: Clocks): number =>
  Math.max(now.wallMs - issued.wallMs, now.monotonicMs - issued.monotonicMs)

/** With less than a fifth of its life left, or a day old; each up to ten seconds early. */
export const needsRefresh = (token: TokenLife, now: Clocks): boolean =>
  ageOf(token, now) >= Math.min(token.lifeMs * 0.8, day) - token.random * jitterMs

export const hasExpired = (token: TokenLife, now: Clocks): boolean => ageOf(token, now) >= token.lifeMs
