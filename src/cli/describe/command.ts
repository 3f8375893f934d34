// `keelson describe pod NAME` and `keelson describe node`: one of them on one page.
import { Argument, Command } from 'commander'
import { asKeelsonError, keelsonError } from '../../core/errors.js'
import { describePod } from '../../core/pod/description.js'
import type { PodJson } from '../../core/pod/document.js'
import type { PodEventJson } from '../../serve/endpoints/pod-events.js'
import { suggest } from '../completion/suggest.js'
import type { Io } from '../io.js'
import { choosePod } from '../pods/choose.js'
import { type ReachOptions, withReach } from '../pods/find-kubelet.js'
import { createKubeletClient, type KubeletClient } from '../pods/kubelet-client.js'
import { defaultKubeconfig, readNodePage } from './node-page.js'

interface DescribeOptions extends ReachOptions {
  readonly namespace?: string
  readonly kubeconfig: string
}

export const create = (io: Io): Command =>
  withReach(
    new Command('describe')
      .description(
        'Show everything about one pod of this node, or about the node in its cluster.\n\n  keelson describe pod web\n  keelson describe node',
      )
      .addArgument(suggest(new Argument('<kind>', 'pod or node'), ['pod', 'node']))
      .argument(
        '[name]',
        'pod name, with or without the node name suffix, or node name (default: the host name)',
      ),
  )
    .option('-n, --namespace <name>', 'namespace of the pod')
    .option('--kubeconfig <file>', 'cluster of the node', defaultKubeconfig)
    .action(async (kind: string, name: string | undefined, options: DescribeOptions) => {
      if (['node', 'nodes', 'no'].includes(kind)) {
        io.stdout.write(await readNodePage(options.kubeconfig, name))
        return
      }
      if (!['pod', 'pods', 'po'].includes(kind))
        throw keelsonError('usage.invalid', `describe ${kind}: only pods and nodes are supported`)
      if (name === undefined) throw keelsonError('usage.invalid', 'describe pod: name the pod')
      const client = createKubeletClient(options)
      const pod = choosePod(await client.pods(), name, options.namespace)
      io.stdout.write(describePod(pod, await eventsOf(client, pod)))
    })

/** Undefined: this kubelet does not keep them, as one of an earlier release. */
async function eventsOf(
  client: KubeletClient,
  { metadata }: PodJson,
): Promise<readonly PodEventJson[] | undefined> {
  try {
    const text = await client.get(`/podevents/${metadata.namespace}/${metadata.name}`)
    return (JSON.parse(text) as { readonly items: readonly PodEventJson[] }).items
  } catch (e) {
    if (asKeelsonError(e).code === 'pod.not-found') return undefined
    throw e
  }
}
