// Paths of API objects. Names and namespaces come from other people's objects, so each is one encoded segment: a name can
// never lead to another resource.

export interface Resource {
  /** `''` is the core group. */
  readonly group: string
  readonly version: string
  /** Plural, as in the URL: `pods`. */
  readonly resource: string
}

const core = (resource: string): Resource => ({ group: '', version: 'v1', resource })

export const nodes = core('nodes')
export const pods = core('pods')
export const configMaps = core('configmaps')
export const secrets = core('secrets')
export const services = core('services')
export const serviceAccounts = core('serviceaccounts')
export const persistentVolumes = core('persistentvolumes')
export const persistentVolumeClaims = core('persistentvolumeclaims')
export const clusterTrustBundles: Resource = {
  group: 'certificates.k8s.io',
  version: 'v1',
  resource: 'clustertrustbundles',
}
export const events = core('events')
export const runtimeClasses: Resource = { group: 'node.k8s.io', version: 'v1', resource: 'runtimeclasses' }
export const leases: Resource = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' }
export const certificateRequests: Resource = {
  group: 'certificates.k8s.io',
  version: 'v1',
  resource: 'certificatesigningrequests',
}
export const tokenReviews: Resource = {
  group: 'authentication.k8s.io',
  version: 'v1',
  resource: 'tokenreviews',
}
export const accessReviews: Resource = {
  group: 'authorization.k8s.io',
  version: 'v1',
  resource: 'subjectaccessreviews',
}

/** (pods, 'shop') -> `/api/v1/namespaces/shop/pods`; without a namespace all of them, or a cluster's own objects. */
export function collectionPath({ group, version, resource }: Resource, namespace?: string): string {
  const root = group === '' ? `/api/${version}` : `/apis/${segment(group)}/${version}`
  return namespace === undefined
    ? `${root}/${resource}`
    : `${root}/namespaces/${segment(namespace)}/${resource}`
}

interface ObjectName {
  readonly namespace?: string
  readonly name: string
  readonly subresource?: string
}

/** (nodes, {name: 'n1', subresource: 'status'}) -> `/api/v1/nodes/n1/status` */
export const objectPath = (resource: Resource, { namespace, name, subresource }: ObjectName): string =>
  `${collectionPath(resource, namespace)}/${segment(name)}${subresource === undefined ? '' : `/${subresource}`}`

/** `..` and `.` survive the encoding and would be taken for steps in the path. */
const segment = (text: string): string =>
  encodeURIComponent(text).replace(/^\.+$/, (dots) => dots.replaceAll('.', '%2E'))
