// The directories of a pod, before its volumes and its sandbox.
import { allContainerSpecs, type PodSpec } from '../../../core/pod/spec/spec.js'
import type { PodHost } from '../../../ports/pod-host.js'
import { type PodPaths, podDirectory, podLogDirectory } from '../to-cri/names.js'

export async function makePodDirectories(spec: PodSpec, paths: PodPaths, host: PodHost): Promise<void> {
  const directory = podDirectory(paths, spec.pod.uid)
  for (const part of ['', '/volumes', '/plugins'])
    await host.ensureDirectory(`${directory}${part}`, { mode: 0o750 })
  const logs = podLogDirectory(paths, spec.pod)
  await host.ensureDirectory(logs, { mode: 0o755 })
  for (const { name } of allContainerSpecs(spec))
    await host.ensureDirectory(`${logs}/${name}`, { mode: 0o755 })
}
