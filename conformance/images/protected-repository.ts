// The one repository of the registry that asks who is there; all others are open.
import type { ProtectedRepository } from './registry.js'

export const protectedRepository: ProtectedRepository = {
  repository: 'k8s-authenticated-test/agnhost',
  user: 'suite',
  password: 'conformance',
}
