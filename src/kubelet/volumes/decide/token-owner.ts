// Who may read a service account token: the user that all containers share, or else everybody in the pod.
import { effectiveUser } from '../../../core/pod/spec/security.js'
import { allContainerSpecs, type PodSpec } from '../../../core/pod/spec/spec.js'

/** Undefined: the containers run as different users, or as one that only the image knows. */
function commonUser(spec: PodSpec): number | undefined {
  const users = new Set(
    allContainerSpecs(spec).map(({ security }) => effectiveUser(spec.security, security).runAsUser),
  )
  const [only] = users
  return users.size === 1 ? only : undefined
}

/** With a group or one user the file is private; fsGroup adds the group's right to read. */
export const tokenFile = (
  spec: PodSpec,
  defaultMode: number,
): { readonly mode: number; readonly owner?: number } => {
  const owner = commonUser(spec)
  const isPrivate = owner !== undefined || spec.security.fsGroup !== undefined
  return { mode: isPrivate ? 0o600 : defaultMode, ...(owner === undefined ? {} : { owner }) }
}
