// Copies of files before an upgrade changes them, each run in a separate directory.
import type { NodePorts } from '../../ports/bootstrap.js'
import type { NodeFacts } from '../facts.js'
import { backupParent, backupPrefix, directoryMode, fileMode, kubeletConfigPath } from '../paths.js'

/** `kubeadm-kubelet-config-2026-08-01-12-30-00-k3x9ab`: the second alone would not tell two runs apart. */
const directoryName = (now: Date, suffix: string): string =>
  `${backupPrefix}-${now.toISOString().slice(0, 19).replaceAll(/[T:]/g, '-')}-${suffix}`

/** Paths are added to the list as they are made, so that a failure knows what to clear away. */
export async function backUpFiles(
  paths: readonly string[],
  facts: NodeFacts,
  ports: NodePorts,
  made: string[],
  created: string[],
): Promise<void> {
  if (!paths.includes(kubeletConfigPath) || facts.config === undefined) return
  const directory = `${backupParent}/${directoryName(ports.now(), ports.uniqueSuffix())}`
  created.push(...(await ports.files.makeDirectory(directory, directoryMode)))
  const copy = `${directory}/config.yaml`
  made.push(copy)
  await ports.files.write(copy, facts.config, fileMode)
}
