// `keelson exec POD -- COMMAND`: runs a command in a container of this node to its end and passes its status on.
import { Command } from 'commander'
import { fail } from '../core/errors.js'
import type { Io } from './io.js'
import { chooseContainer, choosePod } from './pods/choose.js'
import { createKubeletClient, type ReachOptions, withReach } from './pods/kubelet-client.js'

interface ExecOptions extends ReachOptions {
  readonly namespace?: string
  readonly container?: string
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
        'Run a command in a container, without input, and print what it wrote.\n\n  keelson exec web -- ls -l /',
      )
      .argument('<pod>', "the pod, with or without the node's name at its end")
      .argument('<command...>', 'the command and its words, after --'),
  )
    .option('-c, --container <name>', 'one of several containers; default: the first')
    .option('-n, --namespace <name>', "the pod's namespace")
    .action(async (name: string, command: readonly string[], options: ExecOptions) => {
      const client = createKubeletClient(options)
      const pod = choosePod(await client.pods(), name, options.namespace)
      const container = chooseContainer(pod, options.container)
      const query = new URLSearchParams(command.map((word): [string, string] => ['command', word]))
      const { namespace, name: full } = pod.metadata
      const text = await client.post(`/run/${namespace}/${full}/${container}?${query}`, 'application/json')
      const ran = JSON.parse(text) as Partial<Ran>
      if (ran.exitCode === undefined)
        throw fail('kubelet.refused', 'the kubelet answered something else than a result')
      io.stdout.write(Buffer.from(ran.stdout ?? '', 'base64').toString())
      io.stderr.write(Buffer.from(ran.stderr ?? '', 'base64').toString())
      io.exitCode = ran.exitCode
    })
