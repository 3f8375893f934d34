// What scenarios of `keelson companion` share: pods of an independent runner, tuned by somebody; the HTTP server that shows them
// as a kubelet and as an API server; and the command as a process of its own.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { formatCgroupPath } from '../../../src/core/cgroup/name.js'
import type { TargetsInput } from '../../../src/core/memory-qos/targets.js'
import { parseActuatedPod } from '../../../src/memory-qos/decide/actuated-pod.js'
import { type ApiStub, startApiStub } from '../../memory-qos/api-stub.js'
import { type Command, startKeelson } from './lab-kubelet.js'
import {
  cgroups,
  driver,
  expectPlan,
  hard,
  type LabPod,
  mib,
  nodeInput,
  startPod,
  text,
} from './memory-qos-node.js'
import { endpoint } from './pod.js'

export const amounts = (request: string, limit: string) => ({
  requests: { memory: request },
  limits: { memory: limit },
})
const apiPod = (name: string, spec: object, status: object): object => ({
  metadata: { name, namespace: 'lab', uid: `lab-${name}` },
  spec,
  status: { phase: 'Running', ...status },
})
export const web = (status: object = {}): object =>
  apiPod(
    'web',
    {
      containers: [{ name: 'app', resources: amounts('32Mi', '96Mi') }],
      ephemeralContainers: [{ name: 'debug' }],
    },
    { qosClass: 'Burstable', ...status },
  )
const db = apiPod(
  'db',
  {
    containers: [{ name: 'app', resources: { limits: { memory: '48Mi', cpu: '100m' } } }],
    ephemeralContainers: [{ name: 'debug' }],
  },
  { qosClass: 'Guaranteed' },
)

export const kubepods = formatCgroupPath(['kubepods'], driver())
export const burstable = formatCgroupPath(['kubepods', 'burstable'], driver())

export class CompanionFixture {
  readonly running = new Map<string, LabPod>()
  /** Every file before any companion. */
  first: Record<string, string> = {}

  private constructor(
    readonly api: ApiStub,
    readonly stateDir: string,
  ) {}

  static async start(): Promise<CompanionFixture> {
    const fixture = new CompanionFixture(await startApiStub(), mkdtempSync('/tmp/companion-'))
    writeFileSync(
      `${fixture.stateDir}/keelson.yaml`,
      'apiVersion: keelson.dev/v1alpha1\nkind: KeelsonConfiguration\nports: {companion: 0}\ncompanion: {memoryReservationPolicy: HardReservation}\n',
    )
    writeFileSync(
      `${fixture.stateDir}/kubelet.yaml`,
      'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n',
    )
    writeFileSync(
      `${fixture.stateDir}/kubeconfig`,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'c', cluster: { server: fixture.api.url, 'insecure-skip-tls-verify': true } }],
        users: [{ name: 'u', user: {} }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'x',
      }),
    )
    for (const [name, object] of [
      ['web', web()],
      ['db', db],
    ] as const) {
      fixture.api.put(`lab-${name}`, object)
      fixture.running.set(name, await startPod(parseActuatedPod(object)))
    }
    await cgroups.apply(kubepods, { 'memory.min': mib(8) })
    await cgroups.apply(burstable, { 'memory.high': mib(600) })
    fixture.first = fixture.everything()
    return fixture
  }

  /** Every file that the companion may write, and others that it must not. */
  everything(): Record<string, string> {
    const files = ['memory.min', 'memory.low', 'memory.high', 'memory.max', 'cpu.weight', 'pids.max']
    return Object.fromEntries(
      cgroups.walk(kubepods).flatMap((at) => files.map((file) => [`${at} ${file}`, text(at, file) ?? ''])),
    )
  }

  get hasNotes(): boolean {
    return existsSync(`${this.stateDir}/found-values.json`)
  }

  private source(): string[] {
    return [
      '--keelson-config',
      `${this.stateDir}/keelson.yaml`,
      '--kubelet-config',
      `${this.stateDir}/kubelet.yaml`,
      '--period',
      '2',
    ]
  }
  fromKubelet(): string[] {
    return [...this.source(), '--kubelet-url', this.api.url]
  }
  fromApi(): string[] {
    const api = ['--pods-from', 'api', '--kubeconfig', `${this.stateDir}/kubeconfig`, '--node-name', 'n1']
    return [...this.source(), ...api]
  }

  start(...args: readonly string[]): Command {
    return startKeelson([
      'companion',
      ...args,
      '--state-dir',
      this.stateDir,
      '--runtime-endpoint',
      endpoint(),
    ])
  }

  /** Ends it whatever happens: the next check needs its place. */
  async with(args: readonly string[], work: (companion: Command) => Promise<void>): Promise<void> {
    const companion = this.start(...args)
    try {
      await work(companion)
    } finally {
      companion.child.kill('SIGTERM')
      await companion.ended
    }
  }

  inputNow(): TargetsInput {
    return {
      ...nodeInput(hard),
      pods: [...this.api.pods.values()].map((object) => parseActuatedPod(object)),
    }
  }

  async converges(companion: Command): Promise<void> {
    let last: unknown
    for (const end = Date.now() + 90_000; Date.now() < end; await sleep(100)) {
      try {
        await expectPlan(this.inputNow())
        return
      } catch (e) {
        last = e
      }
    }
    assert.fail(`${String(last)}\n${companion.output()}`)
  }

  async rollBack(): Promise<void> {
    const undo = this.start('rollback')
    await undo.ended
    assert.equal(undo.child.exitCode, 0, undo.output())
    assert.equal(this.hasNotes, false, 'the notes are still there')
  }

  async close(): Promise<void> {
    for (const pod of this.running.values()) await pod.remove()
    await this.api.close()
  }
}
