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

/** What runtimePrograms() takes of the peers. */
export const runtimePeers = ['containerd', 'containerd-shim-runc-v2', 'ctr', 'runc'] as const

/** A path of the cache as the environment sees it. */
export const inCache = (path: string): string => join(insideCache, relative(cacheRoot(), path))

export const runtimePrograms = (runtime: RuntimeName, peer: PeerPath): RuntimePrograms =>
  runtime === 'containerd-1.6'
    ? { containerd: '/usr/bin/containerd', ctr: '/usr/bin/ctr', runc: '/usr/sbin/runc', shims: '/usr/bin' }
    : {
        containerd: inCache(peer('containerd')),
        ctr: inCache(peer('ctr')),
        runc: inCache(peer('runc')),
        shims: dirname(inCache(peer('containerd-shim-runc-v2'))),
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
