import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { parseKubeconfig } from './kubeconfig.js'

const path = '/etc/kubernetes/kubelet.conf'
const base64 = (text: string): string => Buffer.from(text).toString('base64')

const kubeconfig = (cluster: object, user: object = {}): string =>
  stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    contexts: [
      { name: 'there', context: { cluster: 'other', user: 'other' } },
      { name: 'here', context: { cluster: 'c', user: 'u' } },
    ],
    clusters: [{ name: 'c', cluster: { server: 'https://10.0.0.1:6443', ...cluster } }],
    users: [{ name: 'u', user }],
  })

describe('what kubeadm writes', () => {
  test('certificate authority inside, both halves of the pair in one file', () => {
    const pem = '/var/lib/kubelet/pki/kubelet-client-current.pem'
    const access = parseKubeconfig(
      kubeconfig(
        { 'certificate-authority-data': base64('CA') },
        { 'client-certificate': pem, 'client-key': pem },
      ),
      path,
    )
    expect(access).toEqual({
      server: new URL('https://10.0.0.1:6443'),
      ca: { text: 'CA' },
      insecure: false,
      user: { certificate: { file: pem }, key: { file: pem } },
    })
  })

  test('bootstrap-kubelet.conf: a token', () => {
    expect(parseKubeconfig(kubeconfig({}, { token: 'abcdef.0123456789abcdef' }), path).user).toEqual({
      token: { text: 'abcdef.0123456789abcdef' },
    })
  })
})

test('paths are meant from the directory of the kubeconfig; data beats a file, tokenFile beats a token', () => {
  const access = parseKubeconfig(
    kubeconfig(
      { 'certificate-authority': 'pki/ca.crt' },
      {
        'client-certificate': 'a.crt',
        'client-certificate-data': base64('CERT'),
        'client-key': '../k.pem',
        token: 'old',
        tokenFile: 'token',
      },
    ),
    path,
  )
  expect(access.ca).toEqual({ file: '/etc/kubernetes/pki/ca.crt' })
  expect(access.user).toEqual({
    certificate: { text: 'CERT' },
    key: { file: '/etc/k.pem' },
    token: { file: '/etc/kubernetes/token' },
  })
})

test('a plugin: a path from the directory of the kubeconfig, a name from PATH', () => {
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: './plugin',
    args: ['get', 'token'],
    env: [{ name: 'REGION', value: 'eu' }],
    interactiveMode: 'Never',
    provideClusterInfo: true,
  }
  expect(parseKubeconfig(kubeconfig({}, { exec }), path).user.exec).toEqual({
    apiVersion: exec.apiVersion,
    command: '/etc/kubernetes/plugin',
    args: exec.args,
    env: { REGION: 'eu' },
    provideClusterInfo: true,
  })
  expect(
    parseKubeconfig(kubeconfig({}, { exec: { ...exec, command: 'aws' } }), path).user.exec?.command,
  ).toBe('aws')
})

for (const { name, cluster = {}, user = {}, says } of [
  { name: 'plain HTTP', cluster: { server: 'http://10.0.0.1:8080' }, says: 'plain HTTP' },
  { name: 'another scheme', cluster: { server: 'ftp://10.0.0.1' }, says: 'not a URL of HTTPS' },
  { name: 'no URL', cluster: { server: '10.0.0.1:6443' }, says: 'not a URL' },
  { name: 'a password in the URL', cluster: { server: 'https://a:b@h' }, says: 'password in the URL' },
  { name: 'a proxy', cluster: { 'proxy-url': 'http://proxy' }, says: 'proxy-url, which is not supported' },
  {
    name: 'an authority that would not be used',
    cluster: { 'insecure-skip-tls-verify': true, 'certificate-authority': 'ca' },
    says: 'remove one of them',
  },
  { name: 'half a pair', user: { 'client-certificate': 'c' }, says: 'only one of' },
  { name: 'acting as another user', user: { as: 'admin', token: 't' }, says: 'as, which is not supported' },
  {
    name: 'data that is no base64',
    user: { 'client-key-data': '***', 'client-certificate': 'c' },
    says: 'not base64',
  },
  { name: 'a token that is a number', user: { token: 12 }, says: 'token is not text' },
  {
    name: 'a plugin that asks a person',
    user: {
      exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'x', interactiveMode: 'Always' },
    },
    says: 'ask a person',
  },
])
  test(`refused: ${name}`, () => {
    expect(() => parseKubeconfig(kubeconfig(cluster, user), path)).toThrow(
      expect.objectContaining({ code: 'kubeapi.kubeconfig', message: expect.stringContaining(says) }),
    )
  })

test('refused: a context that is not there, and no context', () => {
  expect(() =>
    parseKubeconfig(kubeconfig({}).replace('current-context: here', 'current-context: gone'), path),
  ).toThrow('its contexts do not have the context that is named')
  expect(() => parseKubeconfig('{}', path)).toThrow('no current-context')
  expect(() => parseKubeconfig('[]', path)).toThrow('the file is not a mapping')
})

test('an error never quotes a line of the file: it may be a key', () => {
  const secret = 'very-secret-token'
  for (const text of [`users: [{name: u, user: {token: ${secret}`, `a: b: ${secret}`, `- ${secret}\n&x`])
    try {
      parseKubeconfig(text, path)
      expect.fail('it was taken')
    } catch (e) {
      expect(
        JSON.stringify([String(e), (e as Error).message, (e as { cause?: unknown }).cause]),
      ).not.toContain(secret)
    }
})
