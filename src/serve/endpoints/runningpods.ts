// /runningpods: the running pods of the runtime, of any client, as a PodList of names and images.
import type { Endpoint } from '../endpoint.js'
import { jsonAnswer } from '../failures.js'

export const runningPods = (read: () => readonly unknown[]): Endpoint => ({
  name: 'runningpods',
  path: '/runningpods',
  methods: ['GET'],
  handle: () => jsonAnswer({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items: read() }),
})
