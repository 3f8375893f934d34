// `keelson exec POD -- COMMAND`: runs a command in a container of this node to its end and passes its status on.
import { Command, InvalidArgumentError, Option } from 'commander'
import { asKeelsonError, keelsonError } from '../core/errors.js'
import type { PodJson } from '../core/pod/document.js'
import { parseGoDuration } from '../core/units/go-duration.js'
import type { Io } from './io.js'
import { chooseContainer, choosePod } from './pods/choose.js'
import { execOnTerminal } from './pods/exec-terminal.js'
import { type ReachOptions, withReach } from './pods/find-kubelet.js'
import { createKubeletClient, type KubeletClient } from './pods/kubelet-client.js'
import { whySlow } from './pods/why-slow.js'

interface ExecOptions extends ReachOptions {
  readonly namespace?: string
  readonly container?: string
  readonly stdin?: boolean
  readonly tty?: boolean
  /** Milliseconds. */
  readonly timeout: number
}

const longestMs = 24 * 3_600_000
/** The kubelet stops the command at the timeout; this is extra time for its response. */
const answerMs = 10_000
/** From here on the reason for the delay is printed. */
const noteAfterMs = 5_000

const parseTimeout = (text: string): number => {
  const ms = Number(parseGoDuration(text) ?? 0n) / 1e6
  if (ms < 1 || ms > longestMs) throw new InvalidArgumentError('use a duration such as 90s or 5m.')
  return ms
}

interface Ran {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

export const create = (io: Io): Command =>
  withReach(
    new Command('exec')
      .description(
        'Run a command in a container and print its output; with -it, on this terminal.\n\n  keelson exec web -- ls -l /\n  keelson exec -it web -- sh',
      )
      .argument('<pod>', 'pod name, with or without the node name suffix')
      .argument('<command...>', 'command and arguments, after --'),
  )
    .option('-c, --container <name>', 'container name (default: the first container)')
    .option('-n, --namespace <name>', 'namespace of the pod')
    .option('-i, --stdin', 'pass keys of this terminal to the command; only together with -t')
    .option('-t, --tty', 'run the command on a terminal; only together with -i')
    .addOption(
      new Option('--timeout <duration>', 'stop the command after this time, such as 90s or 5m')
        .argParser(parseTimeout)
        .default(30_000, '30s'),
    )
    .action(async (name: string, command: readonly string[], options: ExecOptions) => {
      const client = createKubeletClient(options)
      const pod = choosePod(await client.pods(), name, options.namespace)
      const container = chooseContainer(pod, options.container)
      if (options.stdin === true || options.tty === true) {
        io.exitCode = await execOnTerminal(client, {
          ...terminalOf(options),
          namespace: pod.metadata.namespace,
          pod: pod.metadata.name,
          container,
          command,
        })
        return
      }
      const where = { pod, container, timeoutMs: options.timeout }
      const text = await runThere(client, command, where, (note) => io.stderr.write(note))
      const ran = JSON.parse(text) as Partial<Ran>
      if (ran.exitCode === undefined)
        throw keelsonError('kubelet.refused', 'the kubelet returned an unexpected response')
      io.stdout.write(Buffer.from(ran.stdout ?? '', 'base64').toString())
      io.stderr.write(Buffer.from(ran.stderr ?? '', 'base64').toString())
      io.exitCode = ran.exitCode
    })

/** The end of piped input cannot be passed on: only a terminal is taken. */
function terminalOf({ stdin, tty }: ExecOptions) {
  if (stdin !== true || tty !== true) throw keelsonError('usage.invalid', 'exec: use -i and -t together')
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw keelsonError('usage.invalid', 'exec -it: standard input and output are not a terminal')
  return { input: process.stdin, output: process.stdout }
}

interface Where {
  readonly pod: PodJson
  readonly container: string
  readonly timeoutMs: number
}

/** The kubelet's answer. What keeps it waiting is looked up, because the usual reason is the container and not the kubelet. */
async function runThere(
  client: KubeletClient,
  command: readonly string[],
  { pod, container, timeoutMs }: Where,
  say: (text: string) => void,
): Promise<string> {
  const seconds = timeoutMs / 1000
  const query = new URLSearchParams(command.map((word): [string, string] => ['command', word]))
  query.set('timeout', String(Math.ceil(seconds)))
  const { namespace, name } = pod.metadata
  let over = false
  const note = setTimeout(() => {
    void whySlow(client, pod, container).then((why) => {
      if (!over && why !== undefined) say(`no response yet: ${why}\n`)
    })
  }, noteAfterMs)
  try {
    const path = `/run/${namespace}/${name}/${container}?${query}`
    return await client.post(path, 'application/json', timeoutMs + answerMs)
  } catch (e) {
    over = true
    const { code } = asKeelsonError(e)
    if (code !== 'kubelet.no-answer') throw e
    const why = await whySlow(client, pod, container)
    throw keelsonError(
      code,
      `run ${command[0] ?? ''} in ${name}/${container}: no response within ${seconds} s${why === undefined ? '' : `: ${why}`}; allow more time with --timeout`,
      { pod: name, container },
      e,
    )
  } finally {
    over = true
    clearTimeout(note)
  }
}
