// Whether a container runs again after an exit: its rules by exit code, then its own restart policy, then the pod's. One kind
// of rule makes the whole pod start over.
import type { RestartRule } from '../../../core/pod/spec/handlers.js'
import { allContainerSpecs, type ContainerSpec, type PodSpec } from '../../../core/pod/spec/spec.js'
import { isOver, newestOf, type ObservedContainer, type ObservedPod } from './observed.js'

type Restarted = Pick<ContainerSpec, 'kind' | 'restartPolicy' | 'restartRules'>
type Exit = Pick<ObservedContainer, 'exitCode' | 'killedFor'>

const matchingRule = ({ restartRules }: Restarted, { exitCode }: Exit): RestartRule | undefined =>
  restartRules.find(({ operator, exitCodes }) => exitCodes.includes(exitCode) === (operator === 'In'))

export function restartsAfterExit(
  spec: Pick<PodSpec, 'restartPolicy'>,
  container: Restarted,
  exit: Exit,
): boolean {
  if (container.kind === 'sidecar') return true
  if (container.kind === 'ephemeral') return false
  if (container.kind === 'app' && exit.killedFor === 'change') return true
  if (container.kind === 'app' && exit.killedFor === 'probe' && restartsAfterProbe(spec, container))
    return true
  // For an init container every policy but Never means: until it ends well.
  if (container.kind === 'init' && exit.exitCode === 0) return false
  if (matchingRule(container, exit) !== undefined) return true
  const policy = container.restartPolicy ?? spec.restartPolicy
  return policy === 'Always' || (policy === 'OnFailure' && exit.exitCode !== 0)
}

/** A container that a probe has killed: its exit code does not count, because it did not choose it. */
export const restartsAfterProbe = (
  spec: Pick<PodSpec, 'restartPolicy'>,
  container: Pick<ContainerSpec, 'restartPolicy'>,
): boolean => (container.restartPolicy ?? spec.restartPolicy) !== 'Never'

const restartsAll = (container: Restarted, instance: ObservedContainer): boolean =>
  isOver(instance) && matchingRule(container, instance)?.action === 'RestartAllContainers'

/** Ended instances whose exit makes the whole pod start over. They are removed last, so that an interrupted round goes on. */
export const restartAllSources = (spec: PodSpec, observed: ObservedPod): readonly ObservedContainer[] =>
  allContainerSpecs(spec).flatMap((container) => {
    const newest = newestOf(observed, container.name)
    return newest !== undefined && restartsAll(container, newest) ? [newest] : []
  })

export const mayRestartAll = (spec: PodSpec): boolean =>
  allContainerSpecs(spec).some(({ restartRules }) =>
    restartRules.some(({ action }) => action === 'RestartAllContainers'),
  )
