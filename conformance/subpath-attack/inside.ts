// Runs inside a cluster's node environment: containers mount a part of a volume while processes put links in its place. Each
// container ends with an error when it sees what is outside, and tries to write there.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openKubeApi } from '../../src/adapters/kubeapi/open.js'
import type { KubeObject, KubePod } from '../../src/core/kube/objects.js'
import type { ContainerStatusJson } from '../../src/core/pod/status-json.js'
import type { KubeApi } from '../../src/ports/kube-api.js'
import type { Log } from '../../src/ports/log.js'
import { check, until } from '../cluster/checks-inside.js'
import { insideAdmin } from '../cluster/plan.js'
import { insideDirectory } from '../node-environment/plan.js'
import { subPathAttacks } from './attacks.js'

const count = Number(process.argv[2])
const base = '/api/v1/namespaces/default'
const image = 'registry.k8s.io/e2e-test-images/busybox:1.37.0-2'
const quiet: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => quiet }
const options = { signal: new AbortController().signal }
const attacks = subPathAttacks(1_500)
const ended = 7
const STARTS_S = 900

const place = join(insideDirectory, 'out/attack')
const secret = join(place, 'secret')
const volumeOf = (attack: number): string => join(place, `volume-${attack}`)

function prepare(): ChildProcess[] {
  mkdirSync(join(secret, 'part'), { recursive: true })
  writeFileSync(join(secret, 'leaked'), 'outside')
  writeFileSync(join(secret, 'part/leaked'), 'outside')
  return attacks.map((attack, index) => {
    mkdirSync(volumeOf(index), { recursive: true })
    return spawn(process.execPath, ['-e', attack], {
      cwd: volumeOf(index),
      stdio: 'ignore',
    })
  })
}

/** Ends with 0 when it sees nothing of the outside; what it writes must not appear there either. */
const pod = (i: number) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `part-${i}` },
  spec: {
    nodeName: 'node-1',
    automountServiceAccountToken: false,
    // A container that failed to start would wait ever longer for its next try: another pod takes its place.
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: 'app',
        image,
        command: ['sh', '-c', `test -e /data/leaked && exit ${ended}; touch /data/written; exit 0`],
        volumeMounts: [{ name: 'v', mountPath: '/data', subPath: 'way/part' }],
      },
    ],
    volumes: [{ name: 'v', hostPath: { path: volumeOf(i % attacks.length) } }],
  },
})

interface Progress {
  readonly succeeded: number
  /** Whose container failed to start. */
  readonly failed: number
  /** A container found a file of the outside in its volume. */
  readonly escaped: boolean
}

async function progress(api: KubeApi): Promise<Progress> {
  const { items } = await api.list(`${base}/pods`, {}, options)
  const statuses = (items as readonly KubePod[]).map(({ status }) => status)
  const ends = statuses.flatMap((status) =>
    ((status?.containerStatuses ?? []) as readonly ContainerStatusJson[]).flatMap(({ state, lastState }) => [
      state,
      lastState,
    ]),
  )
  return {
    succeeded: statuses.filter((status) => status?.phase === 'Succeeded').length,
    failed: statuses.filter((status) => status?.phase === 'Failed').length,
    escaped: ends.some((end) => end?.terminated?.exitCode === ended),
  }
}

/** Events about a part that was not mounted: the attack and the kubelet met. */
async function refusals(api: KubeApi): Promise<number> {
  const { items } = await api.list(`${base}/events`, {}, options)
  const about = (
    items as readonly (KubeObject & { readonly message?: string; readonly count?: number })[]
  ).filter(({ message = '' }) => /subpath/i.test(message))
  return about.reduce((sum, event) => sum + (event.count ?? 1), 0)
}

function outside(): string {
  const listing = [secret, join(secret, 'part')].map((path) => readdirSync(path).sort().join(' '))
  const texts = [join(secret, 'leaked'), join(secret, 'part/leaked')].map((path) =>
    readFileSync(path, 'utf8'),
  )
  return JSON.stringify([...listing, ...texts])
}

const api = await openKubeApi({ kubeconfig: insideAdmin, log: quiet, version: 'conformance' })
const swappers = prepare()
const before = outside()
let seen: Progress = { succeeded: 0, failed: 0, escaped: false }
await check(`${count} containers start under the attack, and none sees the outside`, async () => {
  let created = 0
  await until('as many containers have started and ended', STARTS_S, async () => {
    for (; created < count + seen.failed; created++) await api.create(`${base}/pods`, pod(created), options)
    seen = await progress(api)
    if (seen.escaped) throw new Error('a container saw what is outside its volume')
    return seen.succeeded === count
  })
})
const refused = await refusals(api)
for (const swapper of swappers) swapper.kill('SIGKILL')
process.stdout.write(
  `${seen.succeeded} of ${count} containers started, ${seen.failed} failed to start, at least ${refused} mounts refused\n`,
)
await check('the attack met the kubelet: mounts were refused', async () => {
  if (refused === 0) throw new Error('no mount was refused')
})
await check('nothing outside the volume was changed', async () => {
  const after = outside()
  if (after !== before) throw new Error(`before ${before}, after ${after}`)
})
api.close()
