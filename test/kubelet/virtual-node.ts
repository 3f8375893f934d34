// The whole kubelet in one process against the stateful fake runtime, on a clock that a test moves: what takes minutes
// on a node takes none here, and every wait can be told to the second.
import { rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { PodJson } from '../../src/core/pod/document.js'
import type { Scripts } from '../../src/fakes/cri/answers.js'
import { nodeAnswers } from '../../src/fakes/cri/node-answers.js'
import { createNodeState, type NodeState } from '../../src/fakes/cri/node-state.js'
import { runtimeConfig } from '../../src/fakes/cri/shapes.js'
import type { RunningKubelet } from '../../src/kubelet/start.js'
import type { HttpRequest, HttpResponse } from '../../src/ports/http.js'
import type { EndpointContext } from '../../src/serve/endpoint.js'
import {
  createKubeletFixture,
  type KubeletFixture,
  keelsonDocument,
  kubeletDocument,
} from '../support/kubelet-fixture.js'
import { calm, counted, type OpenWork } from '../support/open-work.js'

export const image = 'keelson.local/busybox:1'
const second = 1_000_000_000n

export interface VirtualNodeOptions {
  readonly scripts?: (state: NodeState) => Scripts
  /** Whether the runtime sends container events; otherwise it does not know the call. */
  readonly events?: boolean
  /** Lines of KubeletConfiguration. */
  readonly config?: string
  /** --root-dir is a link to the directory `data`. */
  readonly linkedRoot?: boolean
  /** It is a node of the cluster `fixture.kubeApi`. */
  readonly kubeconfig?: boolean
}

export class VirtualNode {
  private began = 0n
  private kubelet: RunningKubelet | undefined

  private constructor(
    readonly fixture: KubeletFixture,
    readonly state: NodeState,
    private readonly options: VirtualNodeOptions,
    private readonly work: OpenWork,
  ) {}

  static async start(options: VirtualNodeOptions = {}): Promise<VirtualNode> {
    const held: { fixture?: KubeletFixture } = {}
    const state = createNodeState({ images: [image], nowNanos: () => held.fixture?.clock.nowNanos() ?? 0n })
    const { GetContainerEvents, ...answers } = nodeAnswers(state)
    const fixture = await createKubeletFixture({
      scripts: {
        ...answers,
        ...(options.events === true ? { GetContainerEvents } : {}),
        RuntimeConfig: runtimeConfig.cgroupfs,
        ...options.scripts?.(state),
      },
    })
    held.fixture = fixture
    const work: OpenWork = { open: 0 }
    const { connect, files, podHost, volumeHost } = fixture.ports
    fixture.ports = {
      ...fixture.ports,
      files: counted(files, work),
      podHost: counted(podHost, work),
      volumeHost: counted(volumeHost, work),
      connect(endpoint, timeoutMs) {
        const client = connect(endpoint, timeoutMs)
        return {
          ...client,
          runtime: counted(client.runtime, work),
          image: counted(client.image, work),
          states: counted(client.states, work),
        }
      },
    }
    const node = new VirtualNode(fixture, state, options, work)
    await node.startKubelet()
    node.began = fixture.clock.nowNanos()
    return node
  }

  private async startKubelet(): Promise<void> {
    const { fixture } = this
    const manifests = join(fixture.directory, 'manifests')
    await fixture.write('manifests/.keep', '')
    const config = await fixture.write(
      'kubelet.yaml',
      `${kubeletDocument}staticPodPath: ${manifests}\npodLogsDir: ${join(fixture.directory, 'log/pods')}\nresolvConf: ""\n${this.options.config ?? ''}`,
    )
    const keelson = await fixture.write('keelson.yaml', keelsonDocument)
    if (this.options.linkedRoot === true) {
      await fixture.write('data/.keep', '')
      await symlink(join(fixture.directory, 'data'), join(fixture.directory, 'root'))
    }
    this.kubelet = await fixture.start([
      `--config=${config}`,
      `--keelson-config=${keelson}`,
      `--root-dir=${join(fixture.directory, 'root')}`,
      '--hostname-override=node-1',
      '--node-ip=192.0.2.1',
      ...(this.options.kubeconfig === true ? [`--kubeconfig=${join(fixture.directory, 'kubeconfig')}`] : []),
    ])
  }

  /** Another life of the kubelet; the runtime goes on. */
  async restart(between: () => void | Promise<void> = () => undefined): Promise<void> {
    await this.kubelet?.close()
    await between()
    await this.startKubelet()
  }

  async pod(name: string, spec: object): Promise<void> {
    const document = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec }
    await this.fixture.write(`manifests/${name}.yaml`, JSON.stringify(document))
  }

  async removeManifest(name: string): Promise<void> {
    await rm(join(this.fixture.directory, 'manifests', `${name}.yaml`))
  }

  /** Seconds of the node's clock since it came up. */
  get now(): number {
    return Number((this.fixture.clock.nowNanos() - this.began) / (second / 1000n)) / 1000
  }

  /** Second by second, so that everybody who wakes has done its work before the next one does. */
  async pass(seconds: number, each: () => void = () => undefined): Promise<void> {
    for (let i = 0; i < seconds; i += 1) {
      await this.fixture.clock.advance(1000)
      await this.calm()
      each()
    }
  }

  /** Until no call and no work on files is under way, and none follows: the clock must not move under them. */
  async calm(): Promise<void> {
    await calm(this.work)
  }

  /** In real time, while the clock stands: for what only needs files and sockets. */
  async until<T>(what: string, look: () => T | undefined | false): Promise<T> {
    for (const end = performance.now() + 10_000; performance.now() < end; ) {
      const found = look()
      if (found !== undefined && found !== false) return found
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    throw new Error(`never: ${what}\n${this.fixture.log.lines.map((l) => JSON.stringify(l)).join('\n')}`)
  }

  podNamed(name: string): PodJson | undefined {
    const endpoint = this.fixture.served.at(-1)?.endpoints.find((e) => e.name === 'pods')
    // The endpoint asks nothing of its caller.
    const answer = endpoint?.handle({} as HttpRequest, {} as EndpointContext) as HttpResponse | undefined
    const { items } = JSON.parse(String(answer?.body ?? '{"items":[]}')) as { readonly items: PodJson[] }
    return items.find((pod) => pod.metadata.name === `${name}-node-1`)
  }

  waitingOf(name: string): { readonly reason: string; readonly message?: string } | undefined {
    return this.podNamed(name)?.status.containerStatuses[0]?.state.waiting
  }

  async health(name: string): Promise<string | undefined> {
    const check = this.fixture.served.at(-1)?.healthChecks.find((c) => c.name === name)
    if (check === undefined) throw new Error(`there is no health check ${name}`)
    return check.check(new AbortController().signal)
  }

  close(): Promise<void> {
    return this.fixture.close()
  }
}
