// The records of pulls on disk: below `image_manager` of the root directory, under upstream's names.
import { rethrowBug } from '../../core/errors.js'
import { formatTime } from '../../core/units/rfc3339.js'
import type { Clock } from '../../ports/clock.js'
import type { Files } from '../../ports/files.js'
import type { Log } from '../../ports/log.js'
import type { PodHost } from '../../ports/pod-host.js'
import type { ImageService } from '../../ports/runtime.js'
import {
  formatPullIntent,
  formatPullRecord,
  mayUse,
  type PulledWith,
  type PullRecord,
  type PullSecret,
  parsePullRecord,
  recordPull,
  type VerificationPolicy,
} from './decide/pull-record.js'

export interface PullRecords {
  mayUse(
    image: { readonly id: string; readonly name: string; readonly repository: string },
    podSecrets: () => Promise<readonly PullSecret[]>,
  ): Promise<boolean>
  /** Before a pull: a kubelet that dies in it must not forget that it pulled. */
  begin(name: string): Promise<void>
  /** The pull failed, or its end is written. */
  end(name: string): Promise<void>
  pulled(image: {
    readonly id: string
    readonly repository: string
    readonly with: PulledWith
  }): Promise<void>
  /** Records of images that are not there any more. */
  prune(ids: readonly string[]): Promise<void>
}

interface PullRecordsInput {
  readonly policy: VerificationPolicy
  readonly allowlist: readonly string[]
  readonly directory: string
  readonly digest: (text: string) => string
  readonly files: Pick<Files, 'read' | 'replace' | 'remove' | 'list'>
  readonly host: Pick<PodHost, 'ensureDirectory'>
  readonly clock: Pick<Clock, 'nowNanos'>
  readonly log: Log
}

const maxRecord = 256 * 1024
const onlyRoot = { file: 0o600, directory: 0o700 }

export function createPullRecords(i: PullRecordsInput): PullRecords {
  const { files } = i
  const recordPath = (id: string): string => `${i.directory}/pulled/sha256-${i.digest(id)}`
  const intentPath = (name: string): string => `${i.directory}/pulling/sha256-${i.digest(name)}`
  const read = async (path: string): Promise<{ readonly record: PullRecord | undefined } | undefined> => {
    const bytes = await files.read(path, maxRecord)
    return bytes === undefined ? undefined : { record: parsePullRecord(new TextDecoder().decode(bytes)) }
  }
  const write = async (path: string, text: string): Promise<void> => {
    const directory = path.slice(0, path.lastIndexOf('/'))
    await i.host.ensureDirectory(directory, { mode: onlyRoot.directory })
    await files.replace(path, text, { mode: onlyRoot.file })
  }
  return {
    async mayUse({ id, name, repository }, podSecrets) {
      if (i.policy === 'NeverVerify') return true
      try {
        const found = await read(recordPath(id))
        // A record that cannot be read still says that the image was pulled here.
        const isIntended =
          found !== undefined || (await files.read(intentPath(name), maxRecord)) !== undefined
        const input = { ...i, repository, record: found?.record, isIntended }
        // Secrets are read only where it matters who has them.
        return mayUse({ ...input, podSecrets: [] }) || mayUse({ ...input, podSecrets: await podSecrets() })
      } catch (e) {
        // As upstream: what cannot be known is asked of the registry.
        i.log.error('failed to read the record of a pull', { image: name, error: rethrowBug(e) })
        return false
      }
    },
    begin: (name) => write(intentPath(name), formatPullIntent(name)),
    end: (name) => files.remove(intentPath(name)),
    async pulled({ id, ...pulled }) {
      const path = recordPath(id)
      const record = recordPull(
        (await read(path))?.record,
        { imageRef: id, ...pulled },
        formatTime(i.clock.nowNanos()),
      )
      await write(path, formatPullRecord(record))
    },
    async prune(ids) {
      const known = new Set(ids.map(recordPath))
      for (const { path } of (await files.list(`${i.directory}/pulled`)) ?? [])
        if (!known.has(path)) await files.remove(path)
    },
  }
}

interface PruneInput {
  readonly images: Pick<ImageService, 'listImages'>
  readonly pullRecords: PullRecords | undefined
  readonly timeoutMs: number
  readonly log: Log
}

/** Once at the start: images may have been removed while no kubelet ran. */
export async function prunePullRecords(
  { images, pullRecords, timeoutMs, log }: PruneInput,
  signal: AbortSignal,
): Promise<void> {
  if (pullRecords === undefined) return
  try {
    const listed = await images.listImages({}, { timeoutMs, signal })
    await pullRecords.prune(listed.images.map(({ id }) => id))
  } catch (e) {
    if (!signal.aborted) log.warn('failed to remove records of pulls', { error: rethrowBug(e) })
  }
}
