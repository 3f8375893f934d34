// /live/snapshot: the picture of the node as JSON. /live/events: the same, then what changes, as server-sent events.
// /live/history: the last hour for the charts. /live/logs/...: the end of a container's log. /live/doctor/...: the page of a
// check. What the dashboard reads, and nothing else.
import { parseCriLog } from '../../core/cri/log-line.js'
import type { ServedDashboard } from '../dashboard/create-dashboard.js'
import { maxWatchers } from '../dashboard/hub.js'
import type { Endpoint } from '../endpoint.js'
import { failure, jsonAnswer, safeHeaders } from '../failures.js'

const maxLogBytes = 256 * 1024
const maxLogLines = 500
/** Then the browser comes again, and is asked again who it is. */
const streamMs = 120_000

async function* asEvents(changes: AsyncGenerator<string>): AsyncGenerator<string> {
  yield 'retry: 1000\n\n'
  for await (const change of changes) yield `data: ${change}\n\n`
}

export const dashboardApi = ({
  hub,
  history,
  reader,
  logs,
  doctorPage,
  clock,
  signal: ended,
}: ServedDashboard): readonly Endpoint[] => [
  {
    name: 'live/snapshot',
    path: '/live/snapshot',
    methods: ['GET'],
    timeoutMs: 15_000,
    handle: async (_, { signal }) => jsonAnswer(await hub.snapshot(signal)),
  },
  {
    name: 'live/events',
    path: '/live/events',
    methods: ['GET'],
    longRunning: true,
    handle(request) {
      const over = new AbortController()
      void clock.sleep(streamMs, request.signal).then(
        () => over.abort(),
        () => undefined,
      )
      if (hub.watchers >= maxWatchers)
        return failure(request, 503, `Too many open dashboards: ${maxWatchers}`, {
          headers: { 'retry-after': '5' },
        })
      return {
        status: 200,
        headers: { ...safeHeaders, 'content-type': 'text/event-stream' },
        body: asEvents(hub.watch(AbortSignal.any([request.signal, over.signal, ended]))),
      }
    },
  },
  {
    name: 'live/history',
    path: '/live/history',
    methods: ['GET'],
    handle: () => jsonAnswer(history.track()),
  },
  {
    name: 'live/history/pod',
    path: '/live/history/{id}',
    methods: ['GET'],
    handle: (_, { params }) => jsonAnswer(history.track(params.id ?? '')),
  },
  {
    name: 'live/doctor',
    path: '/live/doctor/{check}',
    methods: ['GET'],
    handle(request, { params }) {
      const page = doctorPage(params.check ?? '')
      return page === undefined
        ? failure(request, 404, `there is no page of a check ${params.check ?? ''}`)
        : {
            status: 200,
            headers: { ...safeHeaders, 'content-type': 'text/plain; charset=utf-8' },
            body: page,
          }
    },
  },
  {
    name: 'live/logs',
    path: '/live/logs/{namespace}/{pod}/{container}',
    methods: ['GET'],
    timeoutMs: 15_000,
    async handle(request, { params, signal }) {
      const { pods } = await hub.snapshot(signal)
      const pod = pods.find((p) => p.namespace === params.namespace && p.name === params.pod)
      const container = pod?.containers.find((c) => c.name === params.container)
      if (container === undefined)
        return failure(
          request,
          404,
          `no running container ${params.container ?? ''} in pod ${params.namespace ?? ''}/${params.pod ?? ''}`,
        )
      const path = reader.logPath(container.id)
      if (path === undefined)
        return jsonAnswer({ absent: 'the runtime reports no log file for this container' })
      const text = await logs.read(path, maxLogBytes)
      if (text === undefined) return jsonAnswer({ absent: `the log file ${path} does not exist` })
      return jsonAnswer({ path, lines: parseCriLog(text).slice(-maxLogLines) })
    },
  },
]
