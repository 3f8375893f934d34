// /configz: the effective configuration, and where each value came from. Upstream's key holds upstream's fields only,
// so that its readers find what they know.
import type { Endpoint } from '../endpoint.js'
import { jsonAnswer } from '../failures.js'

export interface ConfigzContent {
  /** Fields of KubeletConfiguration. */
  readonly kubeletconfig: unknown
  /** Ours: origins of values, the cgroup driver in use, sources of values. */
  readonly keelson: unknown
}

export const configz = (read: () => ConfigzContent): Endpoint => ({
  name: 'configz',
  path: '/configz',
  methods: ['GET'],
  handle: () => jsonAnswer(read()),
})
