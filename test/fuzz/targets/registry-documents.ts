// What pulls read from outside: docker configurations of secrets, answers and configuration of credential plugins, records of
// pulls. Broken ones are refused, and what is accepted has the shape that pulls rely on.
import { lookUp, readDockerConfig } from '../../../src/kubelet/images/decide/keyring.js'
import { readProviderConfig } from '../../../src/kubelet/images/decide/provider-config.js'
import { readProviderResponse } from '../../../src/kubelet/images/decide/provider-response.js'
import { mayUse, parsePullRecord } from '../../../src/kubelet/images/decide/pull-record.js'
import { mutateText } from '../random.js'
import { check, type FuzzTarget } from '../types.js'

const apiVersion = 'credentialprovider.kubelet.k8s.io/v1'
const repository = 'r.example.com/a/b'
const documents: readonly [object, ...object[]] = [
  {
    auths: {
      'https://r.example.com/v2/': { auth: 'dTpw' },
      '*.example.com': { username: 'u', password: 'p' },
    },
  },
  {
    apiVersion,
    kind: 'CredentialProviderResponse',
    cacheKeyType: 'Image',
    cacheDuration: '5m0s',
    auth: { 'r.example.com': { username: 'u', password: 'p' } },
  },
  {
    apiVersion: 'kubelet.config.k8s.io/v1',
    kind: 'CredentialProviderConfig',
    providers: [{ name: 'p', apiVersion, matchImages: ['*.io'], defaultCacheDuration: '1h', args: ['a'] }],
  },
  {
    kind: 'ImagePulledRecord',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    lastUpdatedTime: '2026-01-01T00:00:00Z',
    imageRef: 'sha256:1',
    credentialMapping: { [repository]: { kubernetesSecrets: [{ uid: 'u', namespace: 'n', name: 's' }] } },
  },
]

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const registryDocuments: FuzzTarget = {
  name: 'registry-documents',
  generate: (random) => mutateText(JSON.stringify(random.pick(documents)), random),
  run(input) {
    const text = String(input)
    for (const form of ['dockerconfigjson', 'dockercfg'] as const)
      for (const { username, password } of lookUp(readDockerConfig(text, form) ?? [], repository))
        check(typeof username === 'string' && typeof password === 'string', 'a credential is not text')
    const response = readProviderResponse(text, apiVersion)
    if (typeof response !== 'string') lookUp(response.credentials, repository)
    const { providers, problems } = readProviderConfig([parsed(text)])
    check(providers.length > 0 || problems.length > 0, 'neither a provider nor a problem')
    for (const { name } of providers) check(!/[/\0]/.test(name) && name !== '..', `a plugin named ${name}`)
    const record = parsePullRecord(text)
    const policy = 'NeverVerifyPreloadedImages'
    mayUse({ policy, allowlist: [], repository, record, isIntended: false, podSecrets: [] })
  },
}
