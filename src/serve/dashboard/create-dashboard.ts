// The dashboard of one process: reader, hub and page. The process lists the endpoints of both the data and the page.
import type { Clock } from '../../ports/clock.js'
import type { Log } from '../../ports/log.js'
import type { LogTail } from '../../ports/log-tail.js'
import type { PageFiles } from '../../ports/page-files.js'
import { createLiveReader, type LiveOptions, type LiveReader } from './dashboard.js'
import { type LiveHistory, startHistory } from './history.js'
import { createLiveHub, type LiveHub } from './hub.js'

export interface LivePorts {
  readonly logs: LogTail
  /** Undefined: built without the page; the data is served all the same. */
  readonly page: PageFiles | undefined
  /** The page of a doctor check, as Markdown; undefined: there is none. */
  readonly doctorPage: (check: string) => string | undefined
}

interface LiveEnding {
  readonly log: Log
  /** Ends the streams of open pages with the process, which would else wait for them. */
  readonly signal: AbortSignal
}

/** What its two endpoints serve. */
export interface ServedDashboard extends LivePorts {
  readonly hub: LiveHub
  readonly history: LiveHistory
  readonly reader: Pick<LiveReader, 'logPath'>
  readonly clock: Clock
  /** No stream outlives it. */
  readonly signal: AbortSignal
}

export function createLive(o: LiveOptions & LivePorts & LiveEnding): ServedDashboard {
  const reader = createLiveReader(o)
  const { clock, log, logs, page, doctorPage, signal } = o
  const hub = createLiveHub(reader, clock, log)
  const history = startHistory({ hub, reader, clock, log, signal })
  return { hub, history, reader, clock, logs, page, doctorPage, signal }
}
