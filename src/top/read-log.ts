// The end of a container's log, as `keelson top` shows it: from the file that the runtime names.
import { type CriLogLine, parseCriLog } from '../core/cri/log-line.js'
import type { LiveContainer, LivePod } from '../core/dashboard/model.js'
import type { LogTail } from '../ports/log-tail.js'
import type { LiveReader } from '../serve/dashboard/dashboard.js'

/** The lines, or why there are none. */
export type LogAnswer = readonly CriLogLine[] | { readonly absent: string }

export type ReadLog = (pod: LivePod, container: LiveContainer) => Promise<LogAnswer>

const maxLogBytes = 256 * 1024

export const readLogFile =
  (reader: Pick<LiveReader, 'logPath'>, logs: LogTail): ReadLog =>
  async (_, { id }) => {
    const path = reader.logPath(id)
    if (path === undefined) return { absent: 'the runtime reports no log file for this container' }
    const text = await logs.read(path, maxLogBytes)
    return text === undefined ? { absent: `the log file ${path} is not on this machine` } : parseCriLog(text)
  }
