// `keelson logs POD`: what a container of this node has written, and goes on writing.
import { Command, InvalidArgumentError } from 'commander'
import { parseGoDuration } from '../core/units/go-duration.js'
import type { Io } from './io.js'
import { chooseContainer, choosePod } from './pods/choose.js'
import { type ReachOptions, withReach } from './pods/find-kubelet.js'
import { createKubeletClient } from './pods/kubelet-client.js'
import { untilSignal } from './process/signals.js'

interface LogsOptions extends ReachOptions {
  readonly namespace?: string
  readonly container?: string
  readonly follow?: boolean
  readonly previous?: boolean
  readonly timestamps?: boolean
  readonly tail?: number
  readonly since?: number
}

const parseCount = (text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('use a whole number')
  return Number(text)
}

const parseSince = (text: string): number => {
  const nanos = parseGoDuration(text)
  if (nanos === undefined || nanos <= 0n) throw new InvalidArgumentError('use a duration such as 30s or 5m')
  return Math.ceil(Number(nanos) / 1e9)
}

export const create = (io: Io): Command =>
  withReach(
    new Command('logs')
      .description(
        'Print the log of a container.\n\n  keelson logs web\n  keelson logs -f web -c sidecar --tail 20',
      )
      .argument('<pod>', 'pod name, with or without the node name suffix'),
  )
    .option('-c, --container <name>', 'container name (default: the first container)')
    .option('-n, --namespace <name>', 'namespace of the pod')
    .option('-f, --follow', 'follow the log')
    .option('-p, --previous', 'log of the previous container instance')
    .option('--timestamps', 'print the time of each line')
    .option('--tail <lines>', 'print only this many last lines', parseCount)
    .option('--since <duration>', 'print only lines newer than this, such as 5s, 2m or 3h', parseSince)
    .action(async (name: string, options: LogsOptions) => {
      const client = createKubeletClient(options)
      const pod = choosePod(await client.pods(), name, options.namespace)
      const container = chooseContainer(pod, options.container)
      const query = new URLSearchParams()
      for (const key of ['follow', 'previous', 'timestamps'] as const)
        if (options[key]) query.set(key, 'true')
      if (options.tail !== undefined) query.set('tailLines', String(options.tail))
      if (options.since !== undefined) query.set('sinceSeconds', String(options.since))
      const { namespace, name: full } = pod.metadata
      const path = `/containerLogs/${namespace}/${full}/${container}?${query}`
      await untilSignal((signal) => client.stream(path, (text) => io.stdout.write(text), signal))
    })
