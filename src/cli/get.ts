// `keelson get pods`: the pods of this node, as a table or as the objects themselves, once or as they change.
import { setTimeout as sleep } from 'node:timers/promises'
import { Argument, Command, Option } from 'commander'
import { stringify } from 'yaml'
import { keelsonError } from '../core/errors.js'
import { type LabelSelector, parseLabelSelector } from '../core/kube/label-selector.js'
import type { PodJson } from '../core/pod/document.js'
import { formatColumns, type PodRow, podRow } from '../core/pod/printing.js'
import { painter } from './colour.js'
import { suggest } from './completion/suggest.js'
import type { Io } from './io.js'
import { choosePod } from './pods/choose.js'
import { type ReachOptions, withReach } from './pods/find-kubelet.js'
import { createKubeletClient, type KubeletClient } from './pods/kubelet-client.js'
import { paintStatuses } from './pods/paint-statuses.js'
import { createWatchTable } from './pods/watch-table.js'
import { untilSignal } from './process/signals.js'

interface GetOptions extends ReachOptions {
  readonly output?: 'wide' | 'json' | 'yaml' | 'name'
  readonly namespace?: string
  readonly allNamespaces?: boolean
  readonly selector?: LabelSelector
  readonly headers: boolean
  readonly watch?: boolean
}

const watchMs = 500
const kinds = ['pods', 'pod', 'po']

export const create = (io: Io): Command =>
  withReach(
    new Command('get')
      .description(
        'Show the pods of this node.\n\n  keelson get pods -o wide\n  keelson get pod web -o yaml\n  keelson get pods -w\n  keelson get pods -l app=web --no-headers',
      )
      .addArgument(suggest(new Argument('<kind>', 'pods'), ['pods']))
      .argument('[name]', 'pod name, with or without the node name suffix'),
  )
    .addOption(new Option('-o, --output <format>', 'output format').choices(['wide', 'json', 'yaml', 'name']))
    .option('-n, --namespace <name>', 'show only pods of this namespace')
    .option('-A, --all-namespaces', 'show pods of all namespaces (the default)')
    .addOption(
      new Option(
        '-l, --selector <labels>',
        'show only pods with these labels, e.g. app=web,tier!=cache',
      ).argParser(parseLabelSelector),
    )
    .option('--no-headers', 'leave the header out')
    .option('-w, --watch', 'watch for changes and print them')
    .action(async (kind: string, name: string | undefined, options: GetOptions) => {
      if (!kinds.includes(kind)) throw keelsonError('usage.invalid', `get ${kind}: only pods are supported`)
      const client = createKubeletClient(options)
      if (options.watch === true) await untilSignal((signal) => watch(client, name, options, io, signal))
      else print(await select(client, name, options), name, options, io)
    })

function print(pods: readonly PodJson[], name: string | undefined, options: GetOptions, io: Io): void {
  // As kubectl: a script that counts lines of the table finds none.
  if (pods.length === 0 && isTable(options)) io.stderr.write('No pods.\n')
  else io.stdout.write(paintStatuses(format(pods, name, options), pods, painter(io)))
}

const isTable = ({ output }: GetOptions): boolean => output === undefined || output === 'wide'

async function select(
  client: KubeletClient,
  name: string | undefined,
  { namespace, allNamespaces, selector }: GetOptions,
): Promise<readonly PodJson[]> {
  const all = await client.pods()
  const wanted = allNamespaces === true ? undefined : namespace
  if (name !== undefined) return [choosePod(all, name, wanted)]
  return all.filter(
    ({ metadata }) =>
      (wanted === undefined || metadata.namespace === wanted) &&
      (selector === undefined || selector(metadata.labels ?? {})),
  )
}

function format(pods: readonly PodJson[], name: string | undefined, { output, headers }: GetOptions): string {
  const [first] = pods
  const object =
    name !== undefined && first !== undefined ? first : { apiVersion: 'v1', kind: 'List', items: pods }
  switch (output) {
    case 'json':
      return `${JSON.stringify(object, undefined, 2)}\n`
    case 'yaml':
      return formatYaml(object)
    case 'name':
      return pods.map((pod) => `pod/${pod.metadata.name}\n`).join('')
    default:
      return formatColumns([...(headers ? [header(output)] : []), ...pods.map((pod) => cells(pod, output))])
  }
}

/** As kubectl: text that a reader of YAML 1.1 would take for a date, a number or a truth value is quoted, lines are not folded. */
export const formatYaml = (object: object): string => stringify(object, { version: '1.1', lineWidth: 0 })

const header = (output: GetOptions['output']): string[] => [
  'NAMESPACE',
  'NAME',
  'READY',
  'STATUS',
  'RESTARTS',
  'AGE',
  ...(output === 'wide' ? ['IP', 'NODE', 'SOURCE'] : []),
]

const nowNanos = (): bigint => BigInt(Date.now()) * 1_000_000n

function cells(pod: PodJson, output: GetOptions['output']): string[] {
  const row: PodRow = podRow(pod, nowNanos())
  const { namespace, name, ready, status, restarts, age, ip, node, source } = row
  return [namespace, name, ready, status, restarts, age, ...(output === 'wide' ? [ip, node, source] : [])]
}

/** A line for each pod that looks different from before; ends with Ctrl-C. */
async function watch(
  client: KubeletClient,
  name: string | undefined,
  options: GetOptions,
  io: Io,
  signal: AbortSignal,
): Promise<void> {
  const shown = new Map<string, string>()
  const table = createWatchTable(header(options.output), options.headers)
  const paint = painter(io)
  while (!signal.aborted) {
    const pods = await select(client, name, options)
    const changed = pods.filter((pod) => {
      const print = JSON.stringify([pod.status, pod.metadata.deletionTimestamp])
      const isNew = shown.get(pod.metadata.uid) !== print
      shown.set(pod.metadata.uid, print)
      return isNew
    })
    io.stdout.write(
      isTable(options)
        ? paintStatuses(table(changed.map((pod) => cells(pod, options.output))), changed, paint)
        : changed.map((pod) => format([pod], pod.metadata.name, options)).join(''),
    )
    for (const uid of [...shown.keys()]) if (!pods.some((pod) => pod.metadata.uid === uid)) shown.delete(uid)
    await sleep(watchMs, undefined, { signal }).catch(() => undefined)
  }
}
