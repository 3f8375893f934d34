// Keys, requests and certificates of a node, and the files that they are kept in. Text is PEM.

export interface Subject {
  readonly commonName: string
  readonly organizations: readonly string[]
}

export interface HostNames {
  readonly dnsNames: readonly string[]
  readonly ips: readonly string[]
}

export interface CertificateFacts extends Subject, HostNames {
  readonly notBeforeMs: number
  readonly notAfterMs: number
}

export interface StoredPair {
  readonly certificate: string
  readonly key: string
  readonly facts: CertificateFacts
}

/** `kubelet-client-current.pem` and its dated files, as the upstream kubelet names them. */
export interface PairStore {
  /** Of the link that leads to the newest pair. */
  readonly currentPath: string
  /** Undefined: there is none, or what is there is not a certificate with its key. */
  current(): Promise<StoredPair | undefined>
  /** A new pair, whole and on disk before it becomes the current one. Errors: file.write-failed, tls.invalid. */
  write(certificate: string, key: string): Promise<StoredPair>
  /** The key of a request under way, kept so that a restart asks with it again. Made when there is none. */
  pendingKey(): Promise<string>
  forgetPendingKey(): Promise<void>
}

export interface Certificates {
  newKey(): string
  keyType(key: string): 'ec' | 'rsa' | 'other'
  /** PKCS #10. */
  createRequest(key: string, subject: Subject, names: HostNames): Promise<string>
  /** The same for the same key, subject and usages: `node-csr-...`. */
  requestName(key: string, subject: Subject, usages: readonly string[]): string
  /** Whether a request was made with this key for this subject. */
  isRequestOf(request: string, key: string, subject: Subject): Promise<boolean>
  /** Of the first certificate; undefined: it is none, or not that of the key. */
  describe(certificate: string, key: string): CertificateFacts | undefined
  openStore(directory: string, prefix: string): PairStore
}
