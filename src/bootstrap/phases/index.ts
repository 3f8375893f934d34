// The phases of each command, in the order in which they run. A new phase is a file and a line here.
import type { CommandName } from '../kubeadm-documents.js'
import { cleanupNode } from './cleanup-node.js'
import { kubeletConfig } from './kubelet-config.js'
import { kubeletStart } from './kubelet-start.js'
import type { Phase } from './phase.js'
import { upgradeUploadConfig, uploadConfig } from './upload-config.js'

/** Every command begins with it. */
const preflight: Phase = {
  name: 'preflight',
  help: 'run the preflight checks; an error stops the command before any change',
  usesSocket: true,
  checks: true,
}

export const phasesOf: Readonly<Record<CommandName, readonly Phase[]>> = {
  init: [preflight, kubeletStart, uploadConfig],
  join: [preflight, kubeletStart],
  'upgrade apply': [preflight, upgradeUploadConfig, kubeletConfig],
  'upgrade node': [preflight, kubeletConfig],
  reset: [preflight, cleanupNode],
}
