// Kubeconfigs of a node: whether one can be used, and how one is written after a certificate was asked for.

export interface Kubeconfigs {
  exists(path: string): Promise<boolean>
  /** Why its client certificate cannot be used now; undefined: it can. */
  certificateProblem(path: string, nowMs: number): Promise<string | undefined>
  /** The client certificate that stands in it as text, in PEM; undefined: it has none, or names files. */
  embeddedPair(path: string): Promise<{ readonly certificate: string; readonly key: string } | undefined>
  /** The cluster of another kubeconfig, and the pair in `pairFile` as the user. Readable by its owner alone. */
  writeForNode(path: string, clusterOf: string, pairFile: string): Promise<void>
}
