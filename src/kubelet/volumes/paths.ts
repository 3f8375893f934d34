// Where volumes of a pod lie, as upstream has them: tools and the kubelet's own stats look there.
import { type PodPaths, podDirectory } from '../pods/to-cri/names.js'

type Plugin = 'configmap' | 'secret' | 'projected' | 'downward-api' | 'empty-dir' | 'local-volume'

/** `/var/lib/kubelet/pods/UID/volumes/kubernetes.io~configmap/NAME` */
export const volumeDirectory = (paths: PodPaths, uid: string, plugin: Plugin, name: string): string =>
  `${podDirectory(paths, uid)}/volumes/kubernetes.io~${plugin}/${name}`

/** Says that a volume was made and given its group: what containers wrote since must not be changed. */
export const readyFile = (paths: PodPaths, uid: string, volume: string): string =>
  `${podDirectory(paths, uid)}/plugins/kubernetes.io~empty-dir/${volume}/ready`

export const subPathsDirectory = (paths: PodPaths, uid: string): string =>
  `${podDirectory(paths, uid)}/volume-subpaths`

export const subPathTarget = (
  paths: PodPaths,
  uid: string,
  {
    volume,
    container,
    index,
  }: { readonly volume: string; readonly container: string; readonly index: number },
): string => `${subPathsDirectory(paths, uid)}/${volume}/${container}/${index}`
