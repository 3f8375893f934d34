// Peers and images of the benches that run beside the upstream kubelet.
import { ensureSuiteImages, missingForImages, type SuiteImages } from '../conformance/images/ensure-images.js'
import { buildPeer, requireLibrariesOf } from '../conformance/peers/build.js'
import type { PeerName } from '../conformance/peers/catalogue.js'
import { missingRequirement } from '../test/support/requirements.js'

type Log = (line: string) => void

export interface BenchPeers {
  readonly peer: (name: PeerName) => string
  readonly images: SuiteImages
}

export async function buildBenchPeers(names: readonly PeerName[], log: Log): Promise<BenchPeers> {
  const built = new Map<PeerName, string>()
  const all = new Set<PeerName>([...names, 'agnhost', 'sample-device-plugin'])
  await requireLibrariesOf(all)
  for (const name of all) built.set(name, await buildPeer(name, log))
  const peer = (name: PeerName): string => {
    const path = built.get(name)
    if (path === undefined) throw new Error(`${name} is not among the peers of this bench`)
    return path
  }
  const images = await ensureSuiteImages(
    { agnhost: peer('agnhost'), sampleDevicePlugin: peer('sample-device-plugin') },
    log,
  )
  return { peer, images }
}

export const missingForNode = (): string | undefined =>
  missingRequirement({
    root: true,
    packages: ['containerd', 'images'],
    commands: ['unshare', 'setpriv', 'ip'],
  }) ?? missingForImages()
