// `keelson describe pod NAME`: one pod of this node on one page.
import { Command } from 'commander'
import { keelsonError } from '../core/errors.js'
import { describePod } from '../core/pod/description.js'
import type { Io } from './io.js'
import { choosePod } from './pods/choose.js'
import { createKubeletClient, type ReachOptions, withReach } from './pods/kubelet-client.js'

export const create = (io: Io): Command =>
  withReach(
    new Command('describe')
      .description('Show everything about one pod of this node.\n\n  keelson describe pod web')
      .argument('<kind>', 'pod')
      .argument('<name>', 'pod name, with or without the node name suffix'),
  )
    .option('-n, --namespace <name>', 'namespace of the pod')
    .action(async (kind: string, name: string, options: ReachOptions & { readonly namespace?: string }) => {
      if (!['pod', 'pods', 'po'].includes(kind))
        throw keelsonError('usage.invalid', `describe ${kind}: only pods are supported`)
      const pods = await createKubeletClient(options).pods()
      io.stdout.write(describePod(choosePod(pods, name, options.namespace)))
    })
