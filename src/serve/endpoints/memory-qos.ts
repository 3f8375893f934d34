// /memoryqos: intended, written and effective memory values at every level, and what is wrong with them. `?pod=NAME` or
// `?pod=NAMESPACE/NAME` for one pod and its ancestors.

import type { LiveReport } from '../../core/memory-qos/effective-values.js'
import type { Finding } from '../../core/memory-qos/findings.js'
import type { Endpoint } from '../endpoint.js'
import { jsonAnswer } from '../failures.js'

export interface MemoryQosView {
  live(pod?: string): LiveReport
  findings(): readonly Finding[]
}

export const memoryQosEndpoint = (view: MemoryQosView): Endpoint => ({
  name: 'memoryqos',
  path: '/memoryqos',
  methods: ['GET'],
  handle: (_, { query }) =>
    jsonAnswer({ ...view.live(query.get('pod') ?? undefined), findings: view.findings() }),
})
