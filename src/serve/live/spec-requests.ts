// Requests as a kubelet knows them: from the pod itself. Better than anything that can be read back from a runtime.
import type { LiveRequest } from '../../core/live-model.js'
import type { PodRef } from '../../stats/inventory.js'

export interface SpecRequests {
  container(pod: PodRef, name: string): LiveRequest | undefined
}

export const noSpecs: SpecRequests = { container: () => undefined }
