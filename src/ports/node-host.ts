// What a Node object says about this machine beyond its kernel files: addresses, names, huge pages.

export interface NodeHost {
  /** As Go spells it: `amd64`. */
  readonly architecture: string
  /** Every address of every interface, without prefix lengths and zones. */
  ownAddresses(): readonly string[]
  /** Addresses on the interfaces of the default routes: IPv4 first, best route first. */
  routedAddresses(): readonly string[]
  /** By DNS and /etc/hosts; empty: not known, or not in time. */
  lookup(name: string, timeoutMs: number): Promise<readonly string[]>
  /** Whether root here is another user of the machine. */
  inUserNamespace(): boolean
  hugePages(): readonly { readonly pageBytes: bigint; readonly pages: bigint }[]
  /** PRETTY_NAME of os-release. */
  osImage(): string
}
