// Fields of the Pod API that this node does not carry out: those that would change what runs are refused by name with
// the reason, those that only speak to a scheduler or an API server mean nothing here and are let through.

const cluster = 'it names an object of an API server, and static pods have none'
const notYet = 'this node does not carry it out yet'

export const refusedPodFields: Readonly<Record<string, string>> = {
  resourceClaims: cluster,
  schedulingGates: 'nothing would ever lift the gate',
  workloadRef: cluster,
  schedulingGroup: cluster,
}

/** Objects of an API server, which only a pod of that server may name. */
export const clusterPodFields: Readonly<Record<string, string>> = {
  ephemeralContainers: 'debug containers are added to running pods, not written in manifests',
  imagePullSecrets: cluster,
  runtimeClassName: cluster,
  serviceAccount: cluster,
  serviceAccountName: cluster,
}

export const ignoredPodFields: readonly string[] = [
  'affinity',
  'automountServiceAccountToken',
  'nodeSelector',
  'preemptionPolicy',
  'schedulerName',
  'tolerations',
  'topologySpreadConstraints',
]

export const clusterContainerFields: Readonly<Record<string, string>> = { envFrom: cluster }

export const refusedContainerFields: Readonly<Record<string, string>> = {
  volumeDevices: notYet,
}

/** Kinds that this node cannot mount. A pod of the API server waits with an event, one of a file is refused. */
export const refusedVolumeKinds: Readonly<Record<string, string>> = {
  awsElasticBlockStore: notYet,
  azureDisk: notYet,
  azureFile: notYet,
  cephfs: notYet,
  cinder: notYet,
  csi: notYet,
  fc: notYet,
  flexVolume: notYet,
  flocker: notYet,
  gcePersistentDisk: notYet,
  gitRepo: notYet,
  glusterfs: notYet,
  iscsi: notYet,
  nfs: notYet,
  photonPersistentDisk: notYet,
  portworxVolume: notYet,
  quobyte: notYet,
  rbd: notYet,
  scaleIO: notYet,
  storageos: notYet,
  vsphereVolume: notYet,
}

export const clusterVolumeKinds: Readonly<Record<string, string>> = {
  configMap: cluster,
  ephemeral: cluster,
  persistentVolumeClaim: cluster,
  secret: cluster,
}

export const clusterProjections: Readonly<Record<string, string>> = {
  clusterTrustBundle: cluster,
  configMap: cluster,
  secret: cluster,
  serviceAccountToken: cluster,
}

export const refusedProjections: Readonly<Record<string, string>> = { podCertificate: notYet }

export const clusterEnvSources: Readonly<Record<string, string>> = {
  configMapKeyRef: cluster,
  secretKeyRef: cluster,
}

export const refusedPodSecurity: Readonly<Record<string, string>> = {
  windowsOptions: 'this node runs Linux',
}

export const refusedContainerSecurity: Readonly<Record<string, string>> = {
  windowsOptions: 'this node runs Linux',
}

export const refusedMetadata: Readonly<Record<string, string>> = {
  deletionTimestamp: 'remove the manifest to end the pod',
  deletionGracePeriodSeconds: 'remove the manifest to end the pod',
  generateName: 'a static pod needs a name of its own',
  uid: 'the uid of a static pod is made from its content',
}

export const ignoredMetadata: readonly string[] = [
  'creationTimestamp',
  'finalizers',
  'generation',
  'managedFields',
  'ownerReferences',
  'resourceVersion',
  'selfLink',
]
