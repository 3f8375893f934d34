// The load: Deployments whose pods have what pods usually have (token, config map, emptyDir), and write a line to a file of
// the node each time their container starts.
import type { KubeObject, KubePod } from '../../src/core/kube/objects.js'
import type { KubeApi } from '../../src/ports/kube-api.js'

const deployments = '/apis/apps/v1/namespaces/default/deployments'
export const pods = '/api/v1/namespaces/default/pods'
const configMap = 'roll'
const image = 'registry.k8s.io/e2e-test-images/busybox:1.37.0-2'
/**
 * The first process ends at once with the pod, and needs no CPU until then. Its lock is held as long as anything of the
 * container runs: a second one at the same time does not get it.
 */
const command =
  'exec 9>>/starts/$POD_UID; flock -n 9 || echo twice >&9; echo start >&9; trap "exit 0" TERM; sleep 1000000 & wait'

interface Deployment extends KubeObject {
  readonly spec?: { readonly replicas?: number }
  readonly status?: {
    readonly observedGeneration?: number
    readonly replicas?: number
    readonly updatedReplicas?: number
    readonly availableReplicas?: number
  }
}

export interface Load {
  readonly names: readonly string[]
  create(): Promise<void>
  /** Every pod of it is replaced. */
  update(name: string): Promise<void>
  scale(name: string, replicas: number): Promise<void>
  list(): Promise<readonly KubePod[]>
  deletePod(name: string, options?: { readonly gracePeriodSeconds?: number }): Promise<void>
  /** How many pods are missing; 0: as many of the newest template are available as are wanted, and no others are left. */
  missing(): Promise<number>
  remove(): Promise<void>
}

const template = (name: string, startsDirectory: string): object => ({
  metadata: { labels: { app: name, roll: 'yes' } },
  spec: {
    terminationGracePeriodSeconds: 5,
    containers: [
      {
        name: 'app',
        image,
        command: ['sh', '-c', command],
        env: [{ name: 'POD_UID', valueFrom: { fieldRef: { fieldPath: 'metadata.uid' } } }],
        resources: { requests: { cpu: '1m', memory: '4Mi' }, limits: { memory: '32Mi' } },
        volumeMounts: [
          { name: 'starts', mountPath: '/starts' },
          { name: 'scratch', mountPath: '/scratch' },
          { name: 'settings', mountPath: '/settings' },
        ],
      },
    ],
    volumes: [
      { name: 'starts', hostPath: { path: startsDirectory } },
      { name: 'scratch', emptyDir: {} },
      { name: 'settings', configMap: { name: configMap } },
    ],
  },
})

export function createLoad(
  api: KubeApi,
  o: { readonly deployments: number; readonly replicas: number; readonly startsDirectory: string },
): Load {
  const options = { signal: new AbortController().signal, timeoutMs: 60_000 }
  const names = Array.from({ length: o.deployments }, (_, i) => `roll-${i}`)
  const path = (name: string): string => `${deployments}/${name}`
  let version = 0
  return {
    names,
    async create() {
      const data = { colour: 'blue' }
      await api.create(
        '/api/v1/namespaces/default/configmaps',
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: configMap }, data } as KubeObject,
        options,
      )
      for (const name of names)
        await api.create(
          deployments,
          {
            apiVersion: 'apps/v1',
            kind: 'Deployment',
            metadata: { name },
            spec: {
              replicas: o.replicas,
              selector: { matchLabels: { app: name } },
              strategy: { rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
              template: template(name, o.startsDirectory),
            },
          } as KubeObject,
          options,
        )
    },
    async update(name) {
      const annotations = { version: String(++version) }
      await api.patch(path(name), 'merge', { spec: { template: { metadata: { annotations } } } }, options)
    },
    async scale(name, replicas) {
      await api.patch(path(name), 'merge', { spec: { replicas } }, options)
    },
    async list() {
      return (await api.list(pods, { labelSelector: 'roll=yes' }, options)).items
    },
    async deletePod(name, more = {}) {
      await api.remove(`${pods}/${name}`, { ...options, ...more })
    },
    async missing() {
      const { items } = await api.list(deployments, {}, options)
      return (items as readonly Deployment[]).reduce((sum, { metadata, spec, status }) => {
        const wanted = spec?.replicas ?? 0
        if (status?.observedGeneration !== metadata?.generation) return sum + Math.max(1, wanted)
        const others = (status?.replicas ?? 0) - (status?.updatedReplicas ?? 0)
        const fresh = Math.min(status?.updatedReplicas ?? 0, status?.availableReplicas ?? 0)
        return sum + Math.max(0, wanted - fresh) + others
      }, 0)
    },
    async remove() {
      for (const name of names) await api.remove(path(name), options)
    },
  }
}
