// Runs inside a machine: the real kubelet, with the gate MemoryQoS on and off in turns, starts one static pod after another on real
// containerd. Writes the times from manifest to running container to $LAB_OUT.
import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { ContainerState } from '../../src/cri-api/api.js'
import { commandFromHere, LabKubelet } from '../../test/lab/inside/lab-kubelet.js'
import { connect } from '../../test/lab/inside/pod.js'

await commandFromHere()

const podsOfEach = Number(process.env['BENCH_PODS'] ?? '20')
/** Of one life of the kubelet; the first pod of a life is not counted, because nothing is warm yet. */
const podsOfALife = 2
const client = connect()
const kubelet = new LabKubelet()

const gate = 'featureGates: {MemoryQoS: true}\nmemoryReservationPolicy: TieredReservation\n'
const modes = ['off', 'on'] as const
type Mode = (typeof modes)[number]
const times: Record<Mode, number[]> = { off: [], on: [] }

const spec = {
  hostNetwork: true,
  terminationGracePeriodSeconds: 5,
  containers: [
    {
      name: 'app',
      image: 'keelson.local/busybox:1',
      imagePullPolicy: 'Never',
      command: ['/bin/sh', '-c', 'trap "exit 0" TERM; while :; do sleep 1 & wait $!; done'],
      resources: { requests: { memory: '32Mi', cpu: '10m' }, limits: { memory: '64Mi' } },
    },
  ],
}

async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  for (const end = Date.now() + 60_000; ; await sleep(20)) {
    const found = await look()
    if (found !== undefined) return found
    if (Date.now() > end) throw new Error(`not within a minute: ${what}\n${kubelet.output().slice(-2000)}`)
  }
}

const gone = (): Promise<true> =>
  until('no sandbox is left', async () => {
    const { items } = await client.runtime.listPodSandbox({})
    return items.length === 0 ? true : undefined
  })

/** By the runtime's own clock, which is this machine's: how often we look does not count. */
async function startOne(name: string): Promise<number> {
  const began = BigInt(Date.now()) * 1_000_000n
  kubelet.putPod(name, spec)
  const startedAt = await until(`${name} runs`, async () => {
    const filter = { state: { state: ContainerState.CONTAINER_RUNNING } }
    const [running] = (await client.runtime.listContainers({ filter })).containers
    if (running === undefined) return undefined
    return (await client.runtime.containerStatus({ containerId: running.id })).status?.startedAt
  })
  await sleep(300)
  kubelet.removePod(name)
  await gone()
  return Number(startedAt - began) / 1e6
}

let serial = 0
for (let life = 0; life < podsOfEach / podsOfALife; life++)
  for (const mode of life % 2 === 0 ? modes : modes.toReversed()) {
    await kubelet.restart({ driver: 'cgroupfs', config: mode === 'on' ? gate : '' })
    await startOne(`warm${serial++}`)
    for (let i = 0; i < podsOfALife; i++) times[mode].push(await startOne(`pod${serial++}`))
    console.log(`${mode}: ${times[mode].slice(-podsOfALife).map(Math.round).join(' ')} ms`)
  }
await kubelet.stop()
writeFileSync(`${process.env['LAB_OUT'] ?? '.'}/memory-qos-start.json`, JSON.stringify(times))
process.exit(0)
