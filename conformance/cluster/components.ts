// The command lines of a control plane's programs. All data of a run lives below one directory and is thrown away.
import { join } from 'node:path'
import type { ClusterCertificates, PairFiles } from './certificates.js'

export const serviceNetwork = '10.96.0.0/16'
/** Node pod ranges are cut out of it; the first node gets the first /24. */
export const podNetwork = '10.100.0.0/16'
export const clusterDomain = 'cluster.local'
const issuer = `https://kubernetes.default.svc.${clusterDomain}`

export interface ControlPlanePlan {
  readonly directory: string
  /** What the API server listens on and tells pods. */
  readonly address: string
  readonly ports: {
    readonly etcd: number
    readonly etcdPeer: number
    readonly apiServer: number
    readonly controllerManager: number
    readonly scheduler: number
  }
  readonly certificates: ClusterCertificates['files']
  /** Without a controller manager there are no service accounts, so that pods must do without. */
  readonly hasControllers: boolean
  readonly auditLog: { readonly policy: string; readonly file: string } | undefined
  /** Life of the certificates that the controller manager signs, as a Go duration. */
  readonly signingDuration: string | undefined
}

const pairFlags = (names: readonly [string, string], { certificate, key }: PairFiles): string[] => [
  `--${names[0]}=${certificate}`,
  `--${names[1]}=${key}`,
]

const isLoopback = (address: string): boolean => address.startsWith('127.')

export function etcdArguments({ directory, ports }: ControlPlanePlan): string[] {
  const [client, peer] = [`http://127.0.0.1:${ports.etcd}`, `http://127.0.0.1:${ports.etcdPeer}`]
  return [
    `--data-dir=${join(directory, 'etcd')}`,
    '--name=conformance',
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=conformance=${peer}`,
    '--unsafe-no-fsync', // a run's data is thrown away
  ]
}

export function apiServerArguments(plan: ControlPlanePlan): string[] {
  const { address, ports, certificates: files, auditLog } = plan
  return [
    `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
    `--bind-address=${address}`,
    `--advertise-address=${address}`,
    `--secure-port=${ports.apiServer}`,
    ...pairFlags(['tls-cert-file', 'tls-private-key-file'], files.apiServer),
    `--client-ca-file=${files.authority.certificate}`,
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--enable-bootstrap-token-auth=true',
    '--allow-privileged=true',
    ...pairFlags(['kubelet-client-certificate', 'kubelet-client-key'], files.kubeletClient),
    '--kubelet-preferred-address-types=InternalIP,Hostname',
    `--requestheader-client-ca-file=${files.frontProxyAuthority.certificate}`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    ...pairFlags(['proxy-client-cert-file', 'proxy-client-key-file'], files.frontProxyClient),
    // Webhooks and aggregated APIs are called at their pods' addresses: no kube-proxy is needed for that.
    '--enable-aggregator-routing=true',
    `--service-account-issuer=${issuer}`,
    `--service-account-key-file=${files.serviceAccountKey}`,
    `--service-account-signing-key-file=${files.serviceAccountKey}`,
    `--service-cluster-ip-range=${serviceNetwork}`,
    ...(plan.hasControllers ? [] : ['--disable-admission-plugins=ServiceAccount']),
    // The API server refuses to publish a loopback address as the cluster's own.
    ...(isLoopback(address) ? ['--endpoint-reconciler-type=none'] : []),
    ...(auditLog === undefined
      ? []
      : [`--audit-policy-file=${auditLog.policy}`, `--audit-log-path=${auditLog.file}`]),
  ]
}

export function controllerManagerArguments(plan: ControlPlanePlan, kubeconfig: string): string[] {
  const { certificates: files, ports, signingDuration } = plan
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${ports.controllerManager}`,
    `--cert-dir=${join(plan.directory, 'controller-manager')}`,
    '--leader-elect=false',
    '--controllers=*,bootstrap-signer-controller,token-cleaner-controller',
    '--use-service-account-credentials=true',
    `--service-account-private-key-file=${files.serviceAccountKey}`,
    `--root-ca-file=${files.authority.certificate}`,
    ...pairFlags(['cluster-signing-cert-file', 'cluster-signing-key-file'], files.authority),
    ...(signingDuration === undefined ? [] : [`--cluster-signing-duration=${signingDuration}`]),
    '--allocate-node-cidrs=true',
    `--cluster-cidr=${podNetwork}`,
    `--service-cluster-ip-range=${serviceNetwork}`,
  ]
}

export const schedulerArguments = (plan: ControlPlanePlan, kubeconfig: string): string[] => [
  `--kubeconfig=${kubeconfig}`,
  `--authentication-kubeconfig=${kubeconfig}`,
  `--authorization-kubeconfig=${kubeconfig}`,
  '--bind-address=127.0.0.1',
  `--secure-port=${plan.ports.scheduler}`,
  `--cert-dir=${join(plan.directory, 'scheduler')}`,
  '--leader-elect=false',
]

/** One line for each answered request, with caller, verb, object and times, and without bodies. */
export const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
`
