// A preflight check: one question about the node, asked before anything changes. It changes nothing itself.
import type { KubernetesVersion } from '../../core/kubernetes-version.js'
import type { HostFacts, RuntimeAnswer } from '../../ports/bootstrap.js'
import type { CommandName } from '../kubeadm-documents.js'

export interface PreflightFacts {
  readonly command: CommandName
  readonly version: KubernetesVersion
  readonly host: HostFacts
  readonly endpoint: string
  readonly endpointAnswers: boolean
  readonly runtime: RuntimeAnswer | undefined
  readonly listening: readonly string[]
  /** The endpoint flag of kubeadm-flags.env, where an instance file exists beside it. */
  readonly staleFlag: string | undefined
}

export type Finding =
  | { readonly level: 'ok' }
  | { readonly level: 'skipped'; readonly message: string }
  | { readonly level: 'warning' | 'error'; readonly message: string; readonly remedy: string }

export interface PreflightCheck {
  readonly name: string
  readonly asks: string
  run(facts: PreflightFacts): Finding
}

export const ok: Finding = { level: 'ok' }
export const skipped = (message: string): Finding => ({ level: 'skipped', message })
export const warn = (message: string, remedy: string): Finding => ({ level: 'warning', message, remedy })
export const error = (message: string, remedy: string): Finding => ({ level: 'error', message, remedy })
