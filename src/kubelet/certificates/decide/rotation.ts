// When a certificate is renewed: at 70 to 90 % of its life, by chance, so that the nodes of a cluster do not all ask at once;
// at once when it is missing, has ended, or does not have the names that it should.
import type { HostNames, StoredPair, Subject } from '../../../ports/certificates.js'
import { isSameIp } from '../../node/decide/ip-address.js'

interface RotationFacts {
  readonly pair: StoredPair | undefined
  readonly subject: Subject
  readonly names: HostNames
  /** 0 to 1, the same for the life of one certificate. */
  readonly random: number
}

/** In ms since 1970. */
export function rotationDueMs({ pair, subject, names, random }: RotationFacts): number {
  if (pair === undefined || !isFor(pair, subject, names)) return 0
  const { notBeforeMs, notAfterMs } = pair.facts
  return notBeforeMs + (notAfterMs - notBeforeMs) * (0.7 + 0.2 * random)
}

function isFor(
  { facts }: StoredPair,
  { commonName, organizations }: Subject,
  { dnsNames, ips }: HostNames,
): boolean {
  return (
    facts.commonName === commonName &&
    organizations.every((o) => facts.organizations.includes(o)) &&
    dnsNames.every((name) => facts.dnsNames.includes(name)) &&
    // Certificates print IPv6 in capitals and without `::`.
    ips.every((ip) => facts.ips.some((known) => isSameIp(known, ip)))
  )
}

/** The clocks when a pair was taken into use. */
export interface TakenAt {
  readonly wallMs: number
  readonly monotonicMs: number
}

/**
 * The time by which a pair is judged. A clock that is set back must not make a certificate outlive itself: what has passed
 * since the pair was taken is the longer of the two, and it was taken neither before it began nor before the API server's
 * time at the request, where that is known: signers let certificates begin minutes earlier.
 */
export function timeForPair(
  pair: StoredPair | undefined,
  taken: TakenAt,
  now: TakenAt,
  knownMs: number,
): number {
  const begun = Math.max(taken.wallMs, knownMs, pair?.facts.notBeforeMs ?? 0)
  return begun + Math.max(now.wallMs - taken.wallMs, now.monotonicMs - taken.monotonicMs, 0)
}
