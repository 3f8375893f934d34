// The input documents of a scenario, identical for kubeadm and Keelson.
import { stringify } from 'yaml'
import type { Scenario } from './scenario.js'

export const nodeName = 'node-a'
// kubeadm refuses a loopback address here; nothing ever connects to this one (RFC 5737).
const advertiseAddress = '192.0.2.10'

const kubeadmApi = 'kubeadm.k8s.io/v1beta4'

export interface DocumentContext {
  /** Full version of the kubeadm that defines the cluster's version. */
  readonly version: string
  readonly healthzPort: number
  /** Where the tool finds the scenario's patches: kubeadm looks inside its root, Keelson from outside. */
  readonly patches: string | undefined
}

const documents = (list: readonly unknown[]): string => list.map((d) => stringify(d)).join('---\n')

export const formatInitDocuments = (scenario: Scenario, context: DocumentContext): string =>
  documents([
    {
      apiVersion: kubeadmApi,
      kind: 'InitConfiguration',
      localAPIEndpoint: { advertiseAddress, bindPort: 6443 },
      nodeRegistration: {
        name: nodeName,
        ...(scenario.criSocket === undefined ? {} : { criSocket: scenario.criSocket }),
      },
      ...patchesOf(context),
    },
    {
      apiVersion: kubeadmApi,
      kind: 'ClusterConfiguration',
      kubernetesVersion: context.version,
      ...(scenario.gate === undefined ? {} : { featureGates: { NodeLocalCRISocket: scenario.gate } }),
    },
    {
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      cgroupDriver: 'systemd',
      clusterDomain: 'cluster.local',
      healthzPort: context.healthzPort,
      ...scenario.kubelet,
    },
  ])

export const formatJoinDocument = (
  scenario: Scenario,
  discoveryFile: string,
  context: DocumentContext,
): string =>
  documents([
    {
      apiVersion: kubeadmApi,
      kind: 'JoinConfiguration',
      discovery: { file: { kubeConfigPath: discoveryFile } },
      nodeRegistration: {
        name: nodeName,
        ...(scenario.criSocket === undefined ? {} : { criSocket: scenario.criSocket }),
      },
      ...patchesOf(context),
      timeouts: { kubeletHealthCheck: '20s', tlsBootstrap: '20s' },
    },
  ])

export const formatUpgradeDocument = (context: DocumentContext): string =>
  documents([
    {
      apiVersion: kubeadmApi,
      kind: 'UpgradeConfiguration',
      apply: { kubernetesVersion: context.version, ...patchesOf(context) },
      node: { ...patchesOf(context) },
    },
  ])

export const formatResetDocument = (scenario: Scenario): string =>
  documents([
    {
      apiVersion: kubeadmApi,
      kind: 'ResetConfiguration',
      force: true,
      ...(scenario.criSocket === undefined ? {} : { criSocket: scenario.criSocket }),
    },
  ])

export const patchesDirectory = '/etc/kubernetes/patches'

const patchesOf = ({ patches }: DocumentContext) =>
  patches === undefined ? {} : { patches: { directory: patches } }
