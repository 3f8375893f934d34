// What preflight looks at before anything changes. The questions themselves are the doctor's, where it has them.
import type { KubernetesVersion } from '../../core/release/version.js'
import type { Check } from '../../doctor/check.js'
import type { HostFacts, RuntimeAnswer } from '../../ports/bootstrap.js'
import type { CommandName } from '../kubeadm-documents.js'

export interface PreflightFacts {
  readonly command: CommandName
  readonly version: KubernetesVersion
  readonly host: HostFacts
  readonly endpoint: string
  readonly endpointAnswers: boolean
  readonly endpointDenied: boolean
  readonly dryRun: boolean
  readonly runtime: RuntimeAnswer | undefined
  readonly listening: readonly string[]
  /** The endpoint flag of kubeadm-flags.env, where an instance file exists beside it. */
  readonly staleFlag: string | undefined
}

export type PreflightCheck = Check<PreflightFacts>
