// The RPCs that do more than pass through: steps/answer-locally.ts runs this list. Every other RPC is forwarded unread.
import { containerEvents } from './container-events.js'
import { containerStats, listContainerStats } from './container-stats.js'
import {
  createContainer,
  removeContainer,
  startContainer,
  updateContainerResources,
} from './container-unified.js'
import type { CriMethod } from './method.js'
import { listMetricDescriptors, listPodSandboxMetrics } from './metrics.js'
import { listPodSandboxStats, podSandboxStats } from './pod-sandbox-stats.js'
import { runtimeConfig } from './runtime-config.js'
import { status } from './status.js'
import { streams } from './streams.js'
import { updatePodSandboxResources } from './update-pod-sandbox-resources.js'

export const methods: readonly CriMethod[] = [
  runtimeConfig,
  status,
  createContainer,
  startContainer,
  removeContainer,
  updateContainerResources,
  updatePodSandboxResources,
  containerStats,
  listContainerStats,
  podSandboxStats,
  listPodSandboxStats,
  listMetricDescriptors,
  listPodSandboxMetrics,
  containerEvents,
  ...streams,
]
