// The items of the CIS Kubernetes benchmark (section 4.1) about files: who may change them, who may read secrets.
import type { FileMode } from '../../ports/diagnosis.js'
import { type Check, error, type Finding, info, ok, skipped } from '../check.js'
import type { DoctorFacts } from '../facts.js'

const isSecret = (path: string): boolean => /(token|\.key|\.pem|kubelet\.conf)$/.test(path)

const writableByOthers = ({ mode }: FileMode): boolean => (mode & 0o022) !== 0
const readableByOthers = ({ mode }: FileMode): boolean => (mode & 0o044) !== 0

/** Files whose mode must change, with the mode that they should have. */
export const looseFiles = (
  files: readonly FileMode[],
): readonly { readonly path: string; readonly mode: number }[] =>
  files
    .filter((f) => writableByOthers(f) || (isSecret(f.path) && readableByOthers(f)))
    .map((f) => ({ path: f.path, mode: isSecret(f.path) ? f.mode & 0o700 : f.mode & 0o755 }))

const octal = (mode: number): string => mode.toString(8).padStart(4, '0')

export const kubeletFiles: Check<DoctorFacts> = {
  name: 'kubelet-files',
  asks: 'Are the kubelet files protected from other users (CIS 4.1)?',
  run({ kubelet: { files } }) {
    if (files.length === 0) return skipped('none of the files exists')
    const evidence = files.map((f) => `${f.path} ${octal(f.mode)} uid ${f.uid}`)
    const found: Finding[] = looseFiles(files).map(({ path, mode }) =>
      error(
        `other users have access to ${path}`,
        `chmod ${octal(mode)} ${path}, or keelson doctor --fix kubelet-files`,
        evidence,
      ),
    )
    for (const f of files.filter((x) => x.uid !== 0))
      found.push(error(`${f.path} is owned by user ${f.uid}`, `chown root:root ${f.path}`, evidence))
    const shown = files.filter((f) => !isSecret(f.path) && readableByOthers(f))
    if (found.length === 0 && shown.length > 0)
      return info(
        `${shown.map((f) => f.path).join(', ')} is readable by all users, as kubeadm creates it`,
        evidence,
        'chmod 0600, if the benchmark must be met exactly',
      )
    return found.length === 0 ? ok(...evidence) : found
  },
}
