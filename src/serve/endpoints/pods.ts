// /pods: every pod of this node, with its status, as a PodList.
import type { PodJson } from '../../core/pod/document.js'
import type { Endpoint } from '../endpoint.js'
import { jsonAnswer } from '../failures.js'

export const pods = (read: () => readonly PodJson[]): Endpoint => ({
  name: 'pods',
  path: '/pods',
  methods: ['GET'],
  readOnly: true,
  handle: () => jsonAnswer({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items: read() }),
})
