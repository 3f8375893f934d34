// metrics-server as its own manifests have it: a Deployment with a service account, a Service and an APIService. The program
// comes from the peers' cache on the node instead of an image.
import { dirname } from 'node:path'

const name = 'metrics-server'
const namespace = 'kube-system'
const programDirectory = '/opt/metrics-server'
const port = 10_250
const rbac = 'rbac.authorization.k8s.io'
const account = { kind: 'ServiceAccount', name, namespace }
/** The cluster's authority signed the serving certificate of the kubelet, too. */
const authority = '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt'

const role = (roleName: string, rules: readonly object[]): object => ({
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRole',
  metadata: { name: roleName },
  rules,
})

const binding = (
  kind: 'ClusterRoleBinding' | 'RoleBinding',
  bindingName: string,
  [roleKind, roleName]: readonly ['ClusterRole' | 'Role', string],
): object => ({
  apiVersion: `${rbac}/v1`,
  kind,
  metadata: { name: bindingName, ...(kind === 'RoleBinding' ? { namespace } : {}) },
  roleRef: { apiGroup: rbac, kind: roleKind, name: roleName },
  subjects: [account],
})

const probe = (path: string): object => ({
  httpGet: { path, port, scheme: 'HTTPS' },
  periodSeconds: 5,
  failureThreshold: 6,
})

const container: object = {
  name,
  image: 'registry.k8s.io/e2e-test-images/busybox:1.37.0-2',
  command: [`${programDirectory}/${name}`],
  args: [
    '--cert-dir=/tmp',
    `--secure-port=${port}`,
    '--kubelet-preferred-address-types=InternalIP',
    '--kubelet-use-node-status-port',
    `--kubelet-certificate-authority=${authority}`,
    '--metric-resolution=15s',
  ],
  resources: { requests: { cpu: '100m', memory: '200Mi' } },
  ports: [{ name: 'https', containerPort: port }],
  readinessProbe: probe('/readyz'),
  livenessProbe: probe('/livez'),
  securityContext: {
    readOnlyRootFilesystem: true,
    runAsNonRoot: true,
    runAsUser: 1000,
    allowPrivilegeEscalation: false,
    seccompProfile: { type: 'RuntimeDefault' },
    capabilities: { drop: ['ALL'] },
  },
  volumeMounts: [
    { name: 'tmp', mountPath: '/tmp' },
    { name: 'program', mountPath: programDirectory, readOnly: true },
  ],
}

const deployment = (program: string): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace },
  spec: {
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        serviceAccountName: name,
        priorityClassName: 'system-cluster-critical',
        containers: [container],
        volumes: [
          { name: 'tmp', emptyDir: {} },
          { name: 'program', hostPath: { path: dirname(program), type: 'Directory' } },
        ],
      },
    },
  },
})

/** `program`: its path on the node. */
export const metricsServerObjects = (program: string): object[] => [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
  role('system:metrics-server', [
    { apiGroups: [''], resources: ['nodes/metrics'], verbs: ['get'] },
    { apiGroups: [''], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] },
  ]),
  binding('ClusterRoleBinding', 'system:metrics-server', ['ClusterRole', 'system:metrics-server']),
  binding('ClusterRoleBinding', 'metrics-server:system:auth-delegator', [
    'ClusterRole',
    'system:auth-delegator',
  ]),
  binding('RoleBinding', 'metrics-server-auth-reader', ['Role', 'extension-apiserver-authentication-reader']),
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace },
    spec: { selector: { app: name }, ports: [{ name: 'https', port: 443, targetPort: 'https' }] },
  },
  deployment(program),
  {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1beta1.metrics.k8s.io' },
    spec: {
      service: { name, namespace },
      group: 'metrics.k8s.io',
      version: 'v1beta1',
      insecureSkipTLSVerify: true, // it makes its serving certificate itself
      groupPriorityMinimum: 100,
      versionPriority: 100,
    },
  },
]
