// A kubeconfig with everything inside: it can be copied to where it is needed.
import { stringify } from 'yaml'
import type { ApiCredential } from '../peers/api-client.js'

const base64 = (text: string): string => Buffer.from(text).toString('base64')

const userOf = (credential: ApiCredential): Record<string, string> =>
  'token' in credential
    ? { token: credential.token }
    : {
        'client-certificate-data': base64(credential.certificate),
        'client-key-data': base64(credential.key),
      }

/** `ca`: certificate of the authority that signed the API server's, in PEM. */
export const formatKubeconfig = (server: string, ca: string, credential: ApiCredential): string =>
  stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'conformance', cluster: { server, 'certificate-authority-data': base64(ca) } }],
    users: [{ name: 'conformance', user: userOf(credential) }],
    contexts: [{ name: 'conformance', context: { cluster: 'conformance', user: 'conformance' } }],
    'current-context': 'conformance',
  })
