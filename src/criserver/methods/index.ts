// The RPCs that do more than pass through. Everything else goes by unread.
import { containerStats, listContainerStats } from './container-stats.js'
import { createContainer } from './create-container.js'
import type { CriMethod } from './method.js'
import { listMetricDescriptors, listPodSandboxMetrics } from './metrics.js'
import { listPodSandboxStats, podSandboxStats } from './pod-sandbox-stats.js'
import { removeContainer } from './remove-container.js'
import { runtimeConfig } from './runtime-config.js'
import { startContainer } from './start-container.js'
import { status } from './status.js'
import { streams } from './streams.js'
import { updateContainerResources } from './update-container-resources.js'
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
  ...streams,
]
