// What stands before a cluster: this machine's tools, the images, and the peers that only some clusters have.
import { missingRequirement } from '../../test/support/requirements.js'
import { ensureSuiteImages, missingForImages } from '../images/ensure-images.js'
import { buildPeer } from '../peers/build.js'
import type { UnitContext } from '../unit.js'
import type { ClusterOptions } from './options.js'
import type { ClusterRequest } from './start-cluster.js'

export const missingForCluster = (): string | undefined =>
  missingRequirement({
    root: true,
    packages: ['containerd'],
    commands: ['unshare', 'setpriv', 'nice', 'mount', 'ip', 'tar', 'iptables'],
  }) ?? missingForImages()

export async function prepareCluster(
  context: UnitContext,
  { proxy, dns, ...options }: ClusterOptions,
): Promise<Omit<ClusterRequest, 'argv' | 'onOutput'>> {
  const { note, peer } = context
  const peers = { agnhost: peer('agnhost'), sampleDevicePlugin: peer('sample-device-plugin') }
  return {
    ...options,
    ...(proxy ? { kubeProxy: await buildPeer('kube-proxy', note) } : {}),
    ...(dns ? { coreDns: await buildPeer('coredns', note) } : {}),
    images: await ensureSuiteImages(peers, note),
    peer,
    leftovers: [context.directory],
  }
}
