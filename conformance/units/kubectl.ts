// kubectl against a node of a real control plane: logs, exec, attach, cp, port-forward, describe, top, delete, drain. With --record the
// transcript is written to docs/kubectl.md.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { clusterFlags, parseClusterOptions, requireFreePort } from '../cluster/options.js'
import { missingForCluster, prepareCluster } from '../cluster/prepare.js'
import { clusterPeers, startCluster } from '../cluster/start-cluster.js'
import { watchOutput } from '../cluster/watch-output.js'
import { type Kubectl, steps } from '../kubectl/steps.js'
import { inCache } from '../node-environment/programs.js'
import { runCommand } from '../process.js'
import type { Unit, UnitContext } from '../unit.js'

const commandMs = 180_000
/** Long outputs are there to be read, not to be complete. */
const maxLines = 60

interface Recorded {
  readonly kubectl: Kubectl
  text(): string
}

function createKubectl(context: UnitContext, kubeconfig: string): Recorded {
  const lines: string[] = []
  const file = context.peer('kubectl')
  const { directory } = context
  const call: Kubectl = Object.assign(
    async (
      args: readonly string[],
      options: { readonly input?: string; readonly accept?: readonly number[] } = {},
    ) => {
      const env = { ...process.env, KUBECONFIG: kubeconfig }
      const result = await runCommand(file, args, { timeoutMs: commandMs, cwd: directory, env, ...options })
      const output = `${result.stdout}${result.stderr}`.trimEnd().split('\n')
      lines.push(`$ kubectl ${args.map(quoted).join(' ')}`, ...output.slice(0, maxLines), '')
      return result
    },
    { file, kubeconfig, directory, metricsServer: inCache(context.peer('metrics-server')) },
  )
  return { kubectl: call, text: () => lines.join('\n') }
}

const quoted = (word: string): string => (/^[\w./:=,-]+$/.test(word) ? word : `'${word}'`)

async function run(context: UnitContext): Promise<void> {
  const { record, ...options } = context.options
  // metrics-server is a pod: it reaches the API server, and is reached by it, through Services.
  const chosen = parseClusterOptions({ kubelet: 'keelson', ...options, proxy: true })
  const { onOutput, ready } = watchOutput(context.note)
  const cluster = await startCluster({ ...(await prepareCluster(context, chosen)), argv: [], onOutput })
  context.defer(() => cluster.close())
  const ended = cluster.ended.then((status) => {
    throw new Error(`the cluster ended with status ${status}`)
  })
  ended.catch(() => {}) // also while nothing waits for it
  if (!(await context.check('the node is ready', () => Promise.race([ready, ended])))) return
  const { kubectl, text } = createKubectl(context, cluster.kubeconfig)
  for (const step of steps) await context.check(step.name, () => step.run(kubectl))
  if (record === true) {
    const path = join(import.meta.dirname, '../../docs/kubectl.md')
    await writeFile(path, `${heading}\`\`\`\n${text()}\n\`\`\`\n`)
    context.note(`recorded in ${path}`)
  }
}

const heading = `# kubectl on a Keelson node

The transcript of \`npm run conformance -- kubectl --record\`: kubectl, kube-apiserver, scheduler and controller manager 1.37.1, containerd 2.4.2,
and \`keelson kubelet\` as the only node. Streams go from kubectl through the API server and the kubelet to containerd. \`port-forward\` runs beside the
others and is checked with five requests. \`top\` is answered by metrics-server 0.9.0, a Deployment on this node: it checks the kubelet's serving certificate
and shows its service account's token, which the kubelet has reviewed by the API server.

`

export const kubectlUnit: Unit = {
  name: 'kubectl',
  summary:
    'logs, exec, attach, cp, port-forward, describe, top, delete and drain on a Keelson node of a real control plane',
  onlyByName: true,
  peers: [...clusterPeers, 'kubectl', 'metrics-server'],
  options: {
    ...clusterFlags,
    kubelet: { type: 'string', summary: 'keelson or upstream (default keelson)' },
    record: { type: 'boolean', summary: 'write the transcript to docs/kubectl.md' },
  },
  checkOptions: async (options) =>
    await requireFreePort(parseClusterOptions({ kubelet: 'keelson', ...options }).port),
  missing: missingForCluster,
  run,
}
