// What crosses into the node environment: kubeadm, kubectl and the release that they install.
import { insideDirectory } from '../node-environment/plan.js'

export interface InitPlan {
  /** Paths inside the environment. */
  readonly kubeadm: string
  readonly kubectl: string
  /** Release of kubeadm and of the control plane: `v1.37.1`. */
  readonly version: string
}

export const insideInitPlan = `${insideDirectory}/init.json`
export const nodeName = 'control-plane-1'
/** Below the environment's directory: the registry serves it. */
export const imageLayout = 'control-plane-images'
/** Names of the static pods that kubeadm writes; the API server shows them with the node's name behind. */
export const components = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const
export type Component = (typeof components)[number]
