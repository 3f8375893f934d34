// When a service account token is asked for again.

interface TokenLife {
  readonly issuedMs: number
  readonly expiresMs: number
  /** 0 to 1, drawn once per token: a thousand pods must not ask in one moment. */
  readonly random: number
}

const day = 24 * 60 * 60 * 1000
const jitterMs = 10_000

/** With less than a fifth of its life left, or a day old; each up to ten seconds early. */
export function needsRefresh({ issuedMs, expiresMs, random }: TokenLife, nowMs: number): boolean {
  const early = random * jitterMs
  return nowMs >= expiresMs - (expiresMs - issuedMs) * 0.2 - early || nowMs >= issuedMs + day - early
}
