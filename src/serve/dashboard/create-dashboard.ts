// The dashboard of one process: reader, hub, and the endpoints of both the data and the page.

import type { Log } from '../../ports/log.js'
import type { LogTail } from '../../ports/log-tail.js'
import type { PageFiles } from '../../ports/page-files.js'
import type { Endpoint } from '../endpoint.js'
import { dashboard } from '../endpoints/dashboard.js'
import { live } from '../endpoints/dashboard-api.js'
import { createLiveReader, type LiveOptions } from './dashboard.js'
import { createLiveHub } from './hub.js'

export interface LivePorts {
  readonly logs: LogTail
  /** Undefined: built without the page; the data is served all the same. */
  readonly page: PageFiles | undefined
}

export interface LiveEnding {
  readonly log: Log
  /** Ends the streams of open pages with the process, which would else wait for them. */
  readonly signal: AbortSignal
}

export function createLive(o: LiveOptions & LivePorts & LiveEnding): readonly Endpoint[] {
  const reader = createLiveReader(o)
  const hub = createLiveHub(reader, o.clock, o.log)
  return [...live(hub, reader, o), ...dashboard(o.page)]
}
