// Randomness, digests and the local token: what authentication needs from the machine.

export interface Secrets {
  /** 256 random bits, URL-safe. */
  random(): string
  /** A keyed digest, different in every process life: fit as a map key in place of a secret. */
  digest(secret: string): string
  /** Compares in a time that does not depend on the contents. */
  equal(a: string, b: string): boolean
}

/** The token in a file that only its owner can read; read again when the file changes. */
export interface LocalToken {
  /** Undefined while the file is missing, empty or readable by others. */
  current(): string | undefined
}
