// Inside an environment: the upstream kubelet's /metrics/cadvisor from its own cAdvisor, then from CRI through `keelson cri`, then from
// cAdvisor again, of the same pods.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CellPlan } from '../matrix/cell-plan.js'
import { manifests, startKubelet } from '../matrix/kubelet.js'
import {
  askKubelet,
  check,
  endProcess,
  image,
  out,
  serverEndpoint,
  startServer,
  until,
} from '../matrix/node.js'
import { compareWithCadvisor } from './compare.js'
import { explain } from './known-differences.js'

export interface KubeletCadvisorPlan {
  readonly cell: CellPlan
  /** Families that docs/metrics.md leaves out. */
  readonly leftOut: readonly string[]
}

const { cell, leftOut } = JSON.parse(process.argv[2] ?? '{}') as KubeletCadvisorPlan
const rests = 'while :; do sleep 1000; done'
/** Works, writes and reads, is throttled, and then rests. */
const works = `i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; dd if=/dev/zero of=/f bs=1M count=8 conv=fsync 2>/dev/null; cat /f >/dev/null; ${rests}`

const pod = (name: string, limits: Readonly<Record<string, string>>): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: {
      terminationGracePeriodSeconds: 1,
      containers: ['one', 'two'].map((container) => ({
        name: container,
        image,
        command: ['/bin/sh', '-c', works],
        resources: { limits, requests: { cpu: '10m', memory: '8Mi' } },
      })),
    },
  })

/** The answer of a kubelet with or without the gate, about these pods alone. */
async function scrape(name: string, fromCri: boolean, uids: readonly string[]): Promise<string> {
  const kubelet = await startKubelet(cell, serverEndpoint, { PodAndContainerStatsFromCRI: fromCri })
  try {
    const found = (text: string): boolean =>
      uids.every((uid) => text.includes(`/pod${uid}`)) && /^container_fs_usage_bytes/m.test(text)
    await until('the kubelet has values of the pods', 300, async () =>
      found(await askKubelet('/metrics/cadvisor')),
    )
    // Housekeeping of cAdvisor and our layers take up to a quarter of a minute.
    await sleep(25_000)
    const lines = (await askKubelet('/metrics/cadvisor')).split('\n')
    const text = lines
      .filter((l) => l.startsWith('#') || uids.some((uid) => l.includes(`/pod${uid}`)))
      .join('\n')
    await writeFile(join(out, `${name}.txt`), text)
    return text
  } finally {
    await endProcess(kubelet, 'SIGTERM')
  }
}

let uids: string[] = []
const server = await startServer(cell.programs.keelson, cell.runtime)
await check('two pods with four containers run, work and rest', async () => {
  const kubelet = await startKubelet(cell, serverEndpoint)
  await until('the kubelet answers', 300, async () => (await askKubelet('/healthz')) === 'ok')
  await writeFile(join(manifests, 'limited.json'), pod('limited', { cpu: '500m', memory: '96Mi' }))
  await writeFile(join(manifests, 'free.json'), pod('free', {}))
  await until('both run', 180, async () => {
    const { items } = JSON.parse(await askKubelet('/pods')) as {
      items: { metadata: { uid: string }; status: { phase: string } }[]
    }
    uids = items.map((p) => p.metadata.uid)
    return items.length === 2 && items.every((p) => p.status.phase === 'Running')
  })
  await sleep(15_000)
  await endProcess(kubelet, 'SIGTERM')
})
const texts = { before: '', ours: '', after: '' }
await check('the kubelet is read with cAdvisor, from CRI, and with cAdvisor again', async () => {
  texts.before = await scrape('before', false, uids)
  texts.ours = await scrape('ours', true, uids)
  texts.after = await scrape('after', false, uids)
})
await check('every series agrees, or its difference is on the page', async () => {
  const { differences, families, series, cadvisorOnlyFamilies } = compareWithCadvisor(texts, uids)
  const unexplained = differences.filter((d) => explain(d) === undefined)
  if (unexplained.length > 0)
    throw new Error(`${unexplained.length}: ${JSON.stringify(unexplained.slice(0, 12), undefined, 1)}`)
  if (families < 30) throw new Error(`only ${families} families`)
  return { families, series, explained: differences.length, cadvisorOnlyFamilies }
})
await check('no family is missing that docs/metrics.md does not name', async () => {
  const { cadvisorOnlyFamilies } = compareWithCadvisor(texts, uids)
  const missing = cadvisorOnlyFamilies.filter((f) => !leftOut.includes(f))
  if (missing.length > 0) throw new Error(missing.join(', '))
})
await check('no series is there twice', async () => {
  const lines = (await readFile(join(out, 'ours.txt'), 'utf8')).split('\n').filter((l) => /^\w+\{/.test(l))
  const keys = lines.map((l) => l.slice(0, l.lastIndexOf('}')))
  const twice = keys.filter((k, i) => keys.indexOf(k) !== i)
  if (twice.length > 0) throw new Error(twice.slice(0, 5).join('\n'))
  return { series: keys.length }
})
await endProcess(server, 'SIGKILL')
process.exit(0)
