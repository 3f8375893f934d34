// The credentials that are tried for an image: those of the pod's pull secrets, those of the node's own file, and those of the
// credential provider plugins.
import { rethrowBug } from '../../core/errors.js'
import type { Secret } from '../../core/kube/objects.js'
import type { PodSpec } from '../../core/pod/spec/spec.js'
import type { Files } from '../../ports/files.js'
import type { Log } from '../../ports/log.js'
import type { PodEvents } from '../events/pod-events.js'
import type { NodeObjects } from '../objects/node-objects.js'
import type { CredentialProviders } from './credential-providers.js'
import { repositoryOf } from './decide/image-name.js'
import { type Credential, type Credentials, lookUp, readDockerConfig } from './decide/keyring.js'

export interface RegistryCredentials {
  /** In the order in which they are tried; none: the image is pulled without. */
  find(spec: PodSpec, image: string, signal: AbortSignal): Promise<readonly Credential[]>
}

interface RegistryCredentialsInput {
  /** Undefined in standalone mode. */
  readonly objects: Pick<NodeObjects, 'secret'> | undefined
  readonly providers: CredentialProviders | undefined
  /** `config.json` of the kubelet's root directory, as docker login writes it. */
  readonly nodeFile: string
  readonly files: Pick<Files, 'read'>
  readonly digest: (text: string) => string
  readonly events: PodEvents
  readonly log: Log
}

const maxNodeFile = 1024 * 1024

export function createRegistryCredentials(i: RegistryCredentialsInput): RegistryCredentials {
  const ofNode = async (): Promise<Credentials> => {
    const bytes = await i.files.read(i.nodeFile, maxNodeFile).catch((e: unknown) => {
      i.log.warn('failed to read the registry credentials of the node', { error: rethrowBug(e) })
      return undefined
    })
    if (bytes === undefined) return []
    const found = readDockerConfig(new TextDecoder().decode(bytes), 'dockerconfigjson')
    if (found === undefined) i.log.warn('not a docker configuration; it is not used', { path: i.nodeFile })
    return found ?? []
  }
  return {
    async find(spec, image, signal) {
      const repository = repositoryOf(image)
      const [own, node, plugins] = [
        await ofPullSecrets(spec, i, signal),
        await ofNode(),
        (await i.providers?.find(repository, signal)) ?? [],
      ]
      // Each source apart: a specific place of the node does not come before a general one of the pod.
      return [own, node, plugins].flatMap((credentials) => lookUp(credentials, repository))
    },
  }
}

async function ofPullSecrets(
  { pod, imagePullSecrets }: PodSpec,
  { objects, events, log, digest }: RegistryCredentialsInput,
  signal: AbortSignal,
): Promise<Credentials> {
  const found: Credentials[number][] = []
  const missing: string[] = []
  for (const name of imagePullSecrets) {
    try {
      const secret = await objects?.secret(pod.namespace, name, signal)
      if (secret === undefined) missing.push(name)
      else found.push(...ofSecret(secret, pod.namespace, digest, log))
    } catch (e) {
      if (signal.aborted) throw e
      log.warn('failed to read a pull secret', { pod: pod.name, secret: name, error: rethrowBug(e) })
      missing.push(name)
    }
  }
  if (missing.length > 0)
    events.pod(pod, {
      type: 'Warning',
      reason: 'FailedToRetrieveImagePullSecret',
      message: `Unable to retrieve some image pull secrets (${missing.join(', ')}); attempting to pull the image may not succeed.`,
    })
  return found
}

const forms: Readonly<Record<string, readonly [key: string, form: Parameters<typeof readDockerConfig>[1]]>> =
  {
    'kubernetes.io/dockerconfigjson': ['.dockerconfigjson', 'dockerconfigjson'],
    'kubernetes.io/dockercfg': ['.dockercfg', 'dockercfg'],
  }

/** A secret of another type, or a broken one, has no credentials: the others are still tried. */
function ofSecret(
  { type = '', data, metadata }: Secret,
  namespace: string,
  digest: (text: string) => string,
  log: Log,
): Credentials {
  const [key, form] = forms[type] ?? []
  const content = key === undefined ? undefined : data?.[key]
  if (form === undefined || content === undefined) return []
  const { name = '', uid = '' } = metadata ?? {}
  const found = readDockerConfig(Buffer.from(content, 'base64').toString(), form)
  if (found === undefined)
    log.warn('a pull secret holds no docker configuration; it is not used', { secret: name })
  return (found ?? []).map(([place, { username, password }]) => {
    const credentialHash = digest(JSON.stringify({ username, password }))
    return [place, { username, password, secret: { uid, namespace, name, credentialHash } }]
  })
}
