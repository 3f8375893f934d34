// The programs of a node environment at their paths inside it: peers from the cache, Debian's containerd, and a kubelet.
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { bundleCommand } from '../../test/support/command.js'
import { cacheRoot } from '../peers/build.js'
import type { PeerName } from '../peers/catalogue.js'
import { insideCache, insideDirectory, type RuntimeName, type RuntimePrograms } from './plan.js'

export const kubelets = ['upstream', 'keelson'] as const
export type KubeletName = (typeof kubelets)[number]

type PeerPath = (name: PeerName) => string

/** What runtimePrograms() takes of the peers for containerd 2. */
export const runtimePeers = ['containerd', 'containerd-shim-runc-v2', 'ctr', 'runc'] as const

/** A path of the cache as the environment sees it. */
export const inCache = (path: string): string => join(insideCache, relative(cacheRoot(), path))

/** Peers of each runtime; Debian has containerd 1.6, runc and conmon. */
export const peersOf = {
  'containerd-1.6': [],
  'containerd-1.7': ['containerd-1.7', 'containerd-shim-runc-v2-1.7', 'ctr-1.7'],
  'containerd-2': runtimePeers,
  'cri-o': ['cri-o', 'pinns'],
} as const satisfies Record<RuntimeName, readonly PeerName[]>

const debianRunc = '/usr/sbin/runc'

export function runtimePrograms(runtime: RuntimeName, peer: PeerPath): RuntimePrograms {
  const at = (name: PeerName): string => inCache(peer(name))
  switch (runtime) {
    case 'containerd-1.6':
      return {
        kind: 'containerd',
        containerd: '/usr/bin/containerd',
        ctr: '/usr/bin/ctr',
        runc: debianRunc,
        shims: '/usr/bin',
      }
    case 'containerd-1.7':
      return {
        kind: 'containerd',
        containerd: at('containerd-1.7'),
        ctr: at('ctr-1.7'),
        runc: debianRunc,
        shims: dirname(at('containerd-shim-runc-v2-1.7')),
      }
    case 'containerd-2':
      return {
        kind: 'containerd',
        containerd: at('containerd'),
        ctr: at('ctr'),
        runc: at('runc'),
        shims: dirname(at('containerd-shim-runc-v2')),
      }
    case 'cri-o':
      return {
        kind: 'cri-o',
        crio: at('cri-o'),
        pinns: at('pinns'),
        conmon: '/usr/bin/conmon',
        runc: debianRunc,
      }
  }
}

/** The bundle of the command line, at its path inside. */
export const insideKeelson = join(insideDirectory, 'keelson/main.mjs')

const keelsonWrapper = `#!/bin/sh
exec ${process.execPath} ${insideKeelson} kubelet --keelson-config ${insideDirectory}/keelson.yaml "$@"
`
const keelsonConfig = `apiVersion: keelson.dev/v1alpha1
kind: KeelsonConfiguration
profile: upstream
kubernetesVersion: "1.37.1"
`

/** Into the environment's directory on the host. */
export async function writeKeelson(directory: string): Promise<void> {
  const bundle = await bundleCommand()
  await cp(dirname(bundle.main), join(directory, 'keelson'), { recursive: true })
  await bundle.remove()
}

/** The file `kubelet` in the environment's `bin`: upstream's, or a wrapper around Keelson that takes the same flags. */
export async function writeKubelet(
  kubelet: KubeletName,
  { directory, peer }: { readonly directory: string; readonly peer: PeerPath },
): Promise<void> {
  const path = join(directory, 'bin/kubelet')
  await mkdir(dirname(path), { recursive: true })
  if (kubelet === 'upstream') return await symlink(inCache(peer('kubelet')), path)
  await writeKeelson(directory)
  await writeFile(path, keelsonWrapper, { mode: 0o755 })
  await writeFile(join(directory, 'keelson.yaml'), keelsonConfig)
}
