// Files that this user may not read, for commands that only look: they count as not there, and what was denied is noted.
import { isKeelsonError } from '../core/errors.js'
import type { NodeFiles } from '../ports/bootstrap.js'

export interface DeniedFile {
  readonly path: string
  /** `read /var/lib/kubelet/config.yaml: permission denied; run the command as root` */
  readonly why: string
}

interface Tolerated {
  readonly files: NodeFiles
  /** Filled while files are read. */
  readonly denied: readonly DeniedFile[]
}

const isDenied = (e: unknown): e is Error =>
  isKeelsonError(e) && (e.details.errno === 'EACCES' || e.details.errno === 'EPERM')

export function tolerateDenied(files: NodeFiles): Tolerated {
  const denied: DeniedFile[] = []
  const note = (path: string, e: Error): void => {
    if (!denied.some((d) => d.path === path)) denied.push({ path, why: e.message })
  }
  const tolerant =
    <T>(work: (path: string) => Promise<T | undefined>) =>
    async (path: string): Promise<T | undefined> => {
      try {
        return await work(path)
      } catch (e) {
        if (!isDenied(e)) throw e
        note(path, e)
        return undefined
      }
    }
  return {
    denied,
    files: {
      ...files,
      read: tolerant((path) => files.read(path)),
      stat: tolerant((path) => files.stat(path)),
      list: tolerant((path) => files.list(path)),
      resolve: tolerant((path) => files.resolve(path)),
      readLink: tolerant((path) => files.readLink(path)),
    },
  }
}

/** One line for each unreadable file. */
export const deniedNotices = (denied: readonly DeniedFile[]): string[] => denied.map((d) => d.why)
