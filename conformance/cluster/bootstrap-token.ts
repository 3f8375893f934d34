// A bootstrap token, as kubeadm makes it: a node that holds it may ask for a client certificate, the controller manager
// approves and signs it, and later renewals by the node itself.
import { randomBytes } from 'node:crypto'
import type { ApiClient } from '../peers/api-client.js'

const LIFETIME_MS = 24 * 3_600_000
const bootstrappers = 'system:bootstrappers:conformance:nodes'

const bindings: readonly { readonly name: string; readonly role: string; readonly group: string }[] = [
  { name: 'conformance:bootstrap', role: 'system:node-bootstrapper', group: bootstrappers },
  {
    name: 'conformance:approve-first',
    role: 'system:certificates.k8s.io:certificatesigningrequests:nodeclient',
    group: bootstrappers,
  },
  {
    name: 'conformance:approve-renewal',
    role: 'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient',
    group: 'system:nodes',
  },
]

async function bindRoles(client: ApiClient): Promise<void> {
  const apiGroup = 'rbac.authorization.k8s.io'
  const path = `/apis/${apiGroup}/v1/clusterrolebindings`
  for (const { name, role, group } of bindings) {
    if ((await client.get(`${path}/${name}`)) !== undefined) continue
    await client.create(path, {
      apiVersion: `${apiGroup}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup, kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup, kind: 'Group', name: group }],
    })
  }
}

export async function createBootstrapCredential(client: ApiClient): Promise<{ readonly token: string }> {
  await bindRoles(client)
  const [id, secret] = [randomBytes(3).toString('hex'), randomBytes(8).toString('hex')]
  await client.create('/api/v1/namespaces/kube-system/secrets', {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'bootstrap.kubernetes.io/token',
    metadata: { name: `bootstrap-token-${id}` },
    stringData: {
      'token-id': id,
      'token-secret': secret,
      expiration: new Date(Date.now() + LIFETIME_MS).toISOString(),
      'usage-bootstrap-authentication': 'true',
      'usage-bootstrap-signing': 'true',
      'auth-extra-groups': bootstrappers,
    },
  })
  return { token: `${id}.${secret}` }
}
