// upgrade apply, upgrade node: back up and rewrite the kubelet's configuration, migrating the socket on the way.
import { planUpgradeKubeletConfig } from '../plans/upgrade.js'
import type { Phase } from './phase.js'

export const kubeletConfig: Phase = {
  name: 'kubelet-config',
  help: 'back up config.yaml, move the CRI socket into instance-config.yaml and write config.yaml again',
  usesSocket: true,
  plan: planUpgradeKubeletConfig,
}
