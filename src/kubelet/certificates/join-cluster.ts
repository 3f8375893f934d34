// The way into the cluster: with the client certificate that is there, or with one that is asked for first.
import type { EffectiveConfig } from '../../config/effective.js'
import { keelsonError } from '../../core/errors.js'
import type { PairStore } from '../../ports/certificates.js'
import type { KubeApi } from '../../ports/kube-api.js'
import type { KubeletPorts } from '../kubelet-ports.js'
import { bootstrapCertificate } from './bootstrap.js'

export interface ClusterLink {
  readonly api: KubeApi
  readonly clientPairs: PairStore
  /** Asks for a client certificate with --bootstrap-kubeconfig; undefined: there is none to ask with. */
  readonly bootstrap: (() => Promise<void>) | undefined
  /** The certificate in use is only the first one: it is renewed at once. */
  readonly renewNow: boolean
}

type JoinPorts = Pick<KubeletPorts, 'certificates' | 'kubeconfigs' | 'openKubeApi' | 'clock' | 'log'>

/** Undefined in standalone mode. */
export async function joinCluster(
  config: EffectiveConfig,
  nodeName: string,
  certDirectory: string,
  ports: JoinPorts,
  signal: AbortSignal,
): Promise<ClusterLink | undefined> {
  const { kubeconfig, 'bootstrap-kubeconfig': bootstrapFile } = config.process
  const { clock, kubeconfigs, log } = ports
  if (kubeconfig === undefined) {
    if (bootstrapFile !== undefined)
      throw keelsonError(
        'usage.invalid',
        '--bootstrap-kubeconfig needs --kubeconfig: the file that is written with the certificate',
      )
    log.info('standalone: no --kubeconfig, so this machine is a node of no cluster')
    return undefined
  }
  const clientPairs = ports.certificates.openStore(certDirectory, 'kubelet-client')
  const canBootstrap = bootstrapFile !== undefined && (await kubeconfigs.exists(bootstrapFile))
  const bootstrap = async (): Promise<void> => {
    if (bootstrapFile === undefined) return
    const api = await ports.openKubeApi(bootstrapFile)
    try {
      await bootstrapCertificate({
        ...ports,
        api,
        store: clientPairs,
        nodeName,
        writeKubeconfig: () => kubeconfigs.writeForNode(kubeconfig, bootstrapFile, clientPairs.currentPath),
        signal,
      })
    } finally {
      api.close()
    }
  }
  if (canBootstrap) {
    const problem = await kubeconfigs.certificateProblem(kubeconfig, Number(clock.nowNanos() / 1_000_000n))
    if (problem !== undefined) {
      log.info('the kubeconfig cannot be used; using --bootstrap-kubeconfig', { kubeconfig, problem })
      await bootstrap()
    }
  }
  const rotates = config.kubelet.rotateCertificates === true
  const renewNow = rotates && (await takeEmbeddedPair(kubeconfig, clientPairs, ports))
  const api = await ports.openKubeApi(kubeconfig, rotates ? clientPairs.currentPath : undefined)
  log.info('this machine is a node of a cluster', { kubeconfig, server: api.server })
  return { api, clientPairs, bootstrap: canBootstrap ? bootstrap : undefined, renewNow }
}

/**
 * `kubeadm init` writes a certificate into the kubeconfig itself, and looks for the file of renewed ones a moment later: the pair
 * becomes the first one in that file. True: it did.
 */
async function takeEmbeddedPair(
  kubeconfig: string,
  store: PairStore,
  { kubeconfigs, certificates, clock, log }: JoinPorts,
): Promise<boolean> {
  const current = await store.current()
  if (current !== undefined && Number(clock.nowNanos() / 1_000_000n) < current.facts.notAfterMs) return false
  const pair = await kubeconfigs.embeddedPair(kubeconfig)
  if (pair === undefined || certificates.describe(pair.certificate, pair.key) === undefined) return false
  await store.write(pair.certificate, pair.key)
  log.info('the certificate of the kubeconfig is in use until it is renewed', { path: store.currentPath })
  return true
}
