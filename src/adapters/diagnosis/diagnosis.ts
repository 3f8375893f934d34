// The doctor's port on this machine.
import { chmod, stat } from 'node:fs/promises'
import { keelsonError, messageOf } from '../../core/errors.js'
import type { Diagnosis, FileMode } from '../../ports/diagnosis.js'
import { askPort } from './ask-port.js'
import { findKubeletProcess } from './kubelet-process.js'

const permissions = 0o7777

async function fileMode(path: string): Promise<FileMode[]> {
  const found = await stat(path).catch(() => undefined)
  return found === undefined ? [] : [{ path, mode: found.mode & permissions, uid: found.uid }]
}

export const createDiagnosis = (): Diagnosis => ({
  kubeletProcess: () => findKubeletProcess(),
  ask: askPort,
  fileModes: async (paths) => (await Promise.all(paths.map(fileMode))).flat(),
  async changeMode(path, mode) {
    try {
      await chmod(path, mode)
    } catch (e) {
      throw keelsonError(
        'file.write-failed',
        `chmod ${mode.toString(8)} ${path}: ${messageOf(e)}; run as root`,
        { path },
        e,
      )
    }
  },
})
