// What a person reads once the node is ready: the pods, where to look, what to try next.
import type { DemoPod } from './demo-pods.js'

export interface Farewell {
  /** Since the start, without what was spent on installing packages. */
  readonly seconds: number
  readonly installingSeconds: number
  readonly table: string
  readonly demo: readonly DemoPod[]
  /** A line for each pod or manifest that does not run. */
  readonly troubles: readonly string[]
  /** Where the node's processes write their logs. */
  readonly logDir: string
  /** As the kubelet calls the running pods. */
  readonly podNames: readonly string[]
  /** The path that logs a browser in; undefined: there is no page. */
  readonly link: string | undefined
  /** The port as this person sees it. */
  readonly port: number
  /** How they start this program. */
  readonly command: string
  /** Without a terminal to press Ctrl-C in. */
  readonly background: boolean
}

export function formatFarewell(f: Farewell): string {
  const server = `https://127.0.0.1:${f.port}`
  const pod = f.podNames.find((name) => name.startsWith('hog-')) ?? f.podNames[0]
  return [
    '',
    `node ready after ${f.seconds.toFixed(1)} s${f.installingSeconds === 0 ? '' : `, and ${f.installingSeconds.toFixed(1)} s for packages`}`,
    '',
    f.table,
    ...f.demo.map((p) => `  ${p.name}: ${p.shows}`),
    '',
    ...(f.troubles.length === 0
      ? []
      : [
          'not running:',
          ...f.troubles.map((line) => `  ${line}`),
          `  logs of the node: ${f.logDir}/*.log`,
          '',
        ]),
    ...(f.link === undefined
      ? []
      : [
          `dashboard: ${server}${f.link}  (valid once, for one minute)`,
          `  another link: ${f.command} dashboard`,
          '',
        ]),
    f.background ? 'try:' : 'try, in another terminal:',
    `  ${f.command} explain --live${pod === undefined ? '' : ` ${pod}`}`,
    `  ${f.command} get pods -o wide`,
    `  ${f.command} top`,
    `  curl -sk -H "Authorization: Bearer $(${f.command} token)" ${server}/metrics/cadvisor | grep memory_events_high`,
    '',
    f.background
      ? `${f.command} up down stops and removes everything.`
      : 'Ctrl-C stops and removes everything.',
    '',
  ].join('\n')
}
