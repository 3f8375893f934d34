// /runningpods: what the runtime runs, as Pod objects with nothing in them but names and images.
import type { ObservedPod } from '../decide/observed.js'

interface RunningPodJson {
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly uid: string
    readonly creationTimestamp: null
  }
  readonly spec: {
    readonly containers: readonly {
      readonly name: string
      readonly image: string
      readonly resources: object
    }[]
  }
  readonly status: object
}

export const runningPodList = (pods: readonly ObservedPod[]): readonly RunningPodJson[] =>
  pods.map(({ name, namespace, uid, containers }) => ({
    metadata: { name, namespace, uid, creationTimestamp: null },
    spec: {
      containers: containers
        .filter((c) => c.state === 'running')
        .map((c) => ({ name: c.name, image: c.image, resources: {} })),
    },
    status: {},
  }))
