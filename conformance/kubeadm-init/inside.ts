// Inside a node environment: `kubeadm init` makes this machine a control plane of static pods, which the kubelet then has to keep
// alive. Prints one line of JSON for each check.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { parse } from 'yaml'
import { initialize, installKubelet, kubectl, kubeletPid, manifestOf, systemctl } from './node.js'
import { type Component, components, type InitPlan, insideInitPlan, nodeName } from './plan.js'

interface ContainerStatus {
  readonly containerID?: string
  readonly restartCount: number
  readonly ready: boolean
  readonly started?: boolean
  readonly state?: { readonly terminated?: { readonly exitCode: number } }
  readonly lastState?: { readonly terminated?: { readonly exitCode: number } }
}
interface Pod {
  readonly metadata: {
    readonly name: string
    readonly uid: string
    readonly annotations?: Readonly<Record<string, string>>
    readonly ownerReferences?: readonly { readonly kind: string; readonly name: string }[]
  }
  readonly spec: { readonly containers: readonly Readonly<Record<string, unknown>>[] }
  readonly status: {
    readonly phase?: string
    readonly containerStatuses?: readonly ContainerStatus[]
    readonly ephemeralContainerStatuses?: readonly ContainerStatus[]
  }
}
interface Node {
  readonly spec: { readonly taints?: readonly { readonly key: string }[] }
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

const plan = JSON.parse(await readFile(insideInitPlan, 'utf8')) as InitPlan
const mirrorOf = (component: Component): string => `${component}-${nodeName}`

async function check(name: string, body: () => Promise<void>): Promise<void> {
  const began = Date.now()
  let problem: string | undefined
  try {
    await body()
  } catch (e) {
    problem = e instanceof Error ? e.message : String(e)
  }
  const seconds = Math.round((Date.now() - began) / 1000)
  const told = { name, seconds, ...(problem === undefined ? {} : { problem }) }
  process.stdout.write(`check ${JSON.stringify(told)}\n`)
}

function assert(holds: boolean, problem: string): asserts holds {
  if (!holds) throw new Error(problem)
}

/** The last answer, or the last failure to get one, is the reason when it never holds. */
async function until(what: string, seconds: number, ask: () => Promise<string | undefined>): Promise<void> {
  let problem: string | undefined
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(1_000)) {
    problem = await ask().catch((e: unknown) => (e instanceof Error ? e.message : String(e)))
    if (problem === undefined) return
  }
  throw new Error(`not within ${seconds} s: ${what}: ${problem}`)
}

const get = async <T>(...args: readonly string[]): Promise<T> =>
  JSON.parse(await kubectl(plan, ['get', ...args, '-o', 'json'])) as T
const mirrors = async (): Promise<ReadonlyMap<string, Pod>> => {
  const { items } = await get<{ readonly items: readonly Pod[] }>('pods', '-n', 'kube-system')
  return new Map(items.map((pod) => [pod.metadata.name, pod]))
}
const containerOf = (pod: Pod | undefined): ContainerStatus | undefined => pod?.status.containerStatuses?.[0]
const identity = (pod: Pod | undefined): string => {
  const { containerID = 'none', restartCount = -1 } = containerOf(pod) ?? {}
  return `${containerID} restarted ${restartCount}`
}

/** What is wrong with the control plane; undefined: all of it runs and is ready, and so is the node. */
async function problemOfCluster(): Promise<string | undefined> {
  const pods = await mirrors()
  for (const component of components) {
    const pod = pods.get(mirrorOf(component))
    if (pod === undefined) return `${mirrorOf(component)} has no mirror`
    const { ready, started } = containerOf(pod) ?? {}
    if (pod.status.phase !== 'Running' || ready !== true || started !== true)
      return `${mirrorOf(component)}: phase ${pod.status.phase}, started ${started}, ready ${ready}`
  }
  const { status } = await get<Node>('node', nodeName)
  const ready = status.conditions?.find(({ type }) => type === 'Ready')?.status
  return ready === 'True' ? undefined : `the Node is Ready: ${ready}`
}
const untilHealthy = (seconds: number): Promise<void> => until('all is ready', seconds, problemOfCluster)

async function findProcess(program: Component): Promise<number> {
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const words = (await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '')).split('\0')
    if (words[0] === program) return Number(entry)
  }
  throw new Error(`no process ${program}`)
}

/** Only the containers of these may have changed since, each by one restart. */
async function onlyRestarted(before: ReadonlyMap<string, Pod>, which: readonly Component[]): Promise<void> {
  const now = await mirrors()
  for (const component of components) {
    const [was, is] = [before, now].map((pods) => pods.get(mirrorOf(component)))
    if (!which.includes(component)) {
      assert(identity(was) === identity(is), `${component}: ${identity(was)}, then ${identity(is)}`)
      continue
    }
    const [old, new_] = [containerOf(was), containerOf(is)]
    const isNext =
      new_?.restartCount === (old?.restartCount ?? 0) + 1 && new_.containerID !== old?.containerID
    assert(isNext && was?.metadata.uid === is?.metadata.uid, `${identity(was)}, then ${identity(is)}`)
  }
}

const image = 'registry.k8s.io/e2e-test-images/busybox:1.37.0-2'
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'work', namespace: 'default' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'work' } },
    template: {
      metadata: { labels: { app: 'work' } },
      spec: {
        tolerations: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }],
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            name: 'app',
            image,
            command: ['sleep', '1000000'],
          },
        ],
      },
    },
  },
}

async function checkInstalled(): Promise<void> {
  await check('kubeadm init ends with status 0', async () => {
    await installKubelet()
    await initialize(plan)
  })
  await check(
    'the node has joined its own control plane: four mirror pods are ready, the Node is Ready',
    () => untilHealthy(120),
  )
  await check("the mirrors are kubeadm's manifests, probes included, and owned by the Node", async () => {
    const pods = await mirrors()
    for (const component of components) {
      const manifest = parse(await readFile(manifestOf(component), 'utf8')) as Pod
      const mirror = pods.get(mirrorOf(component))
      const { annotations = {}, ownerReferences = [] } = mirror?.metadata ?? {}
      assert(annotations['kubernetes.io/config.source'] === 'file', JSON.stringify(annotations))
      assert(annotations['kubernetes.io/config.mirror'] !== undefined, JSON.stringify(annotations))
      assert(ownerReferences[0]?.kind === 'Node' && ownerReferences[0].name === nodeName, 'its owner')
      const [wanted = {}, shown = {}] = [manifest.spec.containers[0], mirror?.spec.containers[0]]
      for (const field of ['image', 'command', 'livenessProbe', 'startupProbe', 'readinessProbe'] as const) {
        assert(
          contains(shown[field], wanted[field]),
          `${component}: ${field}: ${JSON.stringify(shown[field])}`,
        )
        if (field.endsWith('nessProbe') || field === 'startupProbe')
          assert(field === 'readinessProbe' || wanted[field] !== undefined, `${component} has no ${field}`)
      }
    }
  })
  await check(
    'the kubelet uses what kubeadm wrote: instance-config.yaml, config.yaml, a certificate that rotates',
    async () => {
      const { kubeletconfig } = JSON.parse(
        await kubectl(plan, ['get', '--raw', `/api/v1/nodes/${nodeName}/proxy/configz`]),
      ) as { readonly kubeletconfig: Readonly<Record<string, unknown>> }
      assert(
        kubeletconfig['staticPodPath'] === '/etc/kubernetes/manifests',
        String(kubeletconfig['staticPodPath']),
      )
      const endpoint = String(kubeletconfig['containerRuntimeEndpoint'])
      assert(endpoint === 'unix:///run/containerd/containerd.sock', endpoint)
      const instance = await readFile('/var/lib/kubelet/instance-config.yaml', 'utf8')
      assert(instance.includes(endpoint), instance)
      const { users } = parse(await readFile('/etc/kubernetes/kubelet.conf', 'utf8')) as {
        readonly users: readonly { readonly user: Readonly<Record<string, string>> }[]
      }
      const certificate = users[0]?.user['client-certificate']
      assert(certificate === '/var/lib/kubelet/pki/kubelet-client-current.pem', String(certificate))
    },
  )
  await check('a Deployment of this cluster is scheduled and runs', async () => {
    await kubectl(plan, ['apply', '-f', '-'], JSON.stringify(deployment))
    await until('two replicas are available', 120, async () => {
      const { status } = await get<{ readonly status: { readonly availableReplicas?: number } }>(
        'deployment',
        'work',
      )
      return status.availableReplicas === 2 ? undefined : JSON.stringify(status)
    })
  })
  await check('kubectl debug: an ephemeral container sees the processes of its target', async () => {
    const { items } = await get<{ readonly items: readonly Pod[] }>('pods', '-l', 'app=work')
    const name = items[0]?.metadata.name ?? ''
    const look = ['--', 'sh', '-c', 'ps']
    await kubectl(plan, ['debug', name, '--image', image, '--target=app', '-c', 'look', ...look])
    await until('it has ended', 60, async () => {
      const pod = await get<Pod>('pod', name)
      const { state } = pod.status.ephemeralContainerStatuses?.[0] ?? {}
      return state?.terminated?.exitCode === 0 ? undefined : JSON.stringify(state)
    })
    const seen = await kubectl(plan, ['logs', name, '-c', 'look'])
    assert(seen.includes('sleep 1000000'), seen)
  })
  await check('kubectl logs shows the log of a static pod', async () => {
    const log = await kubectl(plan, ['logs', '-n', 'kube-system', mirrorOf('kube-scheduler')])
    assert(/leaderelection|leader election|Serving securely/i.test(log), log.slice(0, 500))
  })
}

async function checkRestarts(): Promise<void> {
  await check('a restart of the kubelet restarts nothing', async () => {
    const before = await mirrors()
    await systemctl('restart')
    await sleep(20_000)
    await untilHealthy(60)
    await onlyRestarted(before, [])
  })
  await check('a kubelet that is killed restarts nothing when it is back', async () => {
    const before = await mirrors()
    process.kill(await kubeletPid(), 'SIGKILL')
    await sleep(1_000)
    await systemctl('start')
    await sleep(20_000)
    await untilHealthy(60)
    await onlyRestarted(before, [])
  })
  // The others lose their leases or their watches and may end by themselves, so they are not looked at.
  for (const component of ['kube-apiserver', 'etcd'] as const)
    await check(`kill -9 of ${component}: its container is restarted and all is ready again`, async () => {
      const before = await mirrors()
      process.kill(await findProcess(component), 'SIGKILL')
      await until(`${component} is another container`, 120, async () => {
        const [was, is] = [before, await mirrors()].map((pods) => identity(pods.get(mirrorOf(component))))
        return was === is ? `still ${is}` : undefined
      })
      await untilHealthy(180)
      const now = containerOf((await mirrors()).get(mirrorOf(component)))
      const was = containerOf(before.get(mirrorOf(component)))
      assert(now?.restartCount === (was?.restartCount ?? 0) + 1, `restarted ${now?.restartCount} times`)
      assert(now.lastState?.terminated?.exitCode === 137, JSON.stringify(now.lastState))
    })
}

async function checkLiveness(): Promise<void> {
  await check('a scheduler that hangs is restarted by its liveness probe', async () => {
    const before = await mirrors()
    process.kill(await findProcess('kube-scheduler'), 'SIGSTOP')
    // Eight probes of 15 s, then the grace period of 30 s.
    await until('it is another container', 240, async () => {
      const [was, is] = [before, await mirrors()].map((pods) =>
        identity(pods.get(mirrorOf('kube-scheduler'))),
      )
      return was === is ? `still ${is}` : undefined
    })
    await untilHealthy(120)
    await onlyRestarted(before, ['kube-scheduler'])
    const events = await kubectl(plan, ['get', 'events', '-n', 'kube-system'])
    for (const reason of ['Unhealthy', 'Killing'])
      assert(events.includes(reason), `no event ${reason}:\n${events.slice(0, 2000)}`)
  })
}

async function checkManifest(): Promise<void> {
  await check('a changed manifest replaces its pod and no other', async () => {
    const before = await mirrors()
    const path = manifestOf('kube-scheduler')
    const text = await readFile(path, 'utf8')
    await writeFile(path, text.replace('    - kube-scheduler\n', '    - kube-scheduler\n    - --v=1\n'))
    await until('its mirror has the new command', 120, async () => {
      const [container] = (await mirrors()).get(mirrorOf('kube-scheduler'))?.spec.containers ?? []
      return JSON.stringify(container).includes('--v=1') ? undefined : 'not yet'
    })
    await untilHealthy(120)
    const now = await mirrors()
    for (const component of components.filter((c) => c !== 'kube-scheduler')) {
      const [was, is] = [before, now].map((pods) => identity(pods.get(mirrorOf(component))))
      assert(was === is, `${component}: ${was}, then ${is}`)
    }
  })
}

/** Everything that is wanted is there; the API server adds defaults. */
function contains(shown: unknown, wanted: unknown): boolean {
  if (wanted === undefined) return true
  if (typeof wanted !== 'object' || wanted === null) return shown === wanted
  if (typeof shown !== 'object' || shown === null) return false
  return Object.entries(wanted).every(([key, value]) =>
    contains((shown as Readonly<Record<string, unknown>>)[key], value),
  )
}

await checkInstalled()
await checkRestarts()
await checkLiveness()
await checkManifest()
// The namespaces end everything that still runs.
process.exit()
