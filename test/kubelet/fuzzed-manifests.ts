// Mutated manifests that the kubelet accepts, made fit to run on somebody's machine: no image from elsewhere, no path of
// the host but a given one, and a short end. What is odd about them otherwise stays.
import { parsePodSpec } from '../../src/core/pod/spec/parse.js'
import { createRandom, type Random } from '../fuzz/random.js'
import { mutate } from '../fuzz/targets/manifests.js'
import { busybox, forever } from './node.js'

type Fields = Record<string, unknown>

const base = (hostPath: string): Fields => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'fuzz', labels: { app: 'w' }, annotations: { 'a/b': 'c' } },
  spec: {
    restartPolicy: 'OnFailure',
    terminationGracePeriodSeconds: 1,
    hostNetwork: false,
    hostname: 'h',
    dnsPolicy: 'None',
    dnsConfig: { nameservers: ['192.0.2.1'], searches: ['x.y'], options: [{ name: 'ndots', value: '2' }] },
    hostAliases: [{ ip: '10.1.1.1', hostnames: ['a.b'] }],
    securityContext: { fsGroup: 2, supplementalGroups: [3], seccompProfile: { type: 'RuntimeDefault' } },
    volumes: [
      { name: 'e', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
      { name: 'd', emptyDir: {} },
      { name: 'h', hostPath: { path: hostPath, type: 'DirectoryOrCreate' } },
    ],
    initContainers: [
      { name: 'i', image: busybox, command: ['/bin/true'] },
      { name: 's', image: busybox, restartPolicy: 'Always', command: ['/bin/sh', '-c', forever] },
    ],
    containers: [
      {
        name: 'app',
        image: busybox,
        command: ['/bin/sh', '-c', forever],
        workingDir: '/tmp',
        args: ['$(A)', '$$(A)'],
        env: [
          { name: 'A', value: '$(B)' },
          { name: 'N', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        ],
        ports: [{ name: 'p', containerPort: 80, protocol: 'TCP' }],
        resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '32Mi' } },
        volumeMounts: [
          { name: 'e', mountPath: '/e' },
          { name: 'h', mountPath: '/h', readOnly: true },
        ],
        securityContext: { runAsUser: 1000, capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] } },
      },
      {
        name: 'b',
        image: busybox,
        command: ['/bin/sh', '-c', 'exit 0'],
        volumeMounts: [{ name: 'd', mountPath: '/d' }],
      },
    ],
  },
})

const objects = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? value.filter((v): v is Fields => typeof v === 'object' && v !== null) : []

function makeHarmless(document: Fields, name: string, hostPath: string): Fields {
  const spec = document['spec'] as Fields
  const containers = [...objects(spec['containers']), ...objects(spec['initContainers'])]
  for (const container of containers)
    if (container['image'] !== busybox) container['image'] = `127.0.0.1:1/${String(container['image'])}`
  for (const volume of objects(spec['volumes']))
    if (volume['hostPath'] !== undefined) volume['hostPath'] = { path: hostPath, type: 'DirectoryOrCreate' }
  const grace = spec['terminationGracePeriodSeconds']
  spec['terminationGracePeriodSeconds'] = typeof grace === 'number' ? Math.min(grace, 1) : 1
  return { ...document, metadata: { ...(document['metadata'] as Fields), name, namespace: 'default' } }
}

/** Odd values that JSON cannot say come out as it says them: as nothing. */
const asJson = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, v: unknown) => (typeof v === 'bigint' ? v.toString() : v)) ?? 'null')

const isAccepted = (document: unknown): document is Fields => parsePodSpec(document).kind === 'pod'

export interface FuzzedManifest {
  readonly name: string
  readonly text: string
}

export interface FuzzedManifests {
  readonly accepted: readonly FuzzedManifest[]
  readonly refused: readonly FuzzedManifest[]
}

/** So many that are accepted, and the refused ones that came up on the way. Every one differs from the others. */
export function fuzzedManifests(count: number, seed: number, hostPath: string): FuzzedManifests {
  const random: Random = createRandom(seed)
  const seen = new Set<string>()
  const accepted: FuzzedManifest[] = []
  const refused: FuzzedManifest[] = []
  while (accepted.length < count) {
    const mutant = asJson(mutate(base(hostPath), random, random.pick([1, 2, 3])))
    const key = JSON.stringify(mutant)
    if (seen.has(key)) continue
    seen.add(key)
    if (!isAccepted(mutant)) {
      refused.push({ name: `refused${refused.length}`, text: key })
      continue
    }
    const name = `fuzz${accepted.length}`
    const document = makeHarmless(mutant, name, hostPath)
    if (isAccepted(document)) accepted.push({ name, text: JSON.stringify(document) })
  }
  return { accepted, refused }
}
