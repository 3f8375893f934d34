// Kubeconfigs: what is accepted has a server that is reached safely; what is refused is refused without its secrets.
import { parseExecCredential } from '../../../src/adapters/kubeapi/exec-credential.js'
import { parseKubeconfig } from '../../../src/adapters/kubeapi/kubeconfig.js'
import { isKeelsonError } from '../../../src/core/errors.js'
import { mutateText, type Random } from '../random.js'
import { check, type FuzzTarget } from '../types.js'

const secret = 'c2VjcmV0'
const user = [
  `token: ${secret}`,
  `tokenFile: /var/token\n      token: ${secret}`,
  `client-certificate-data: ${secret}\n      client-key-data: ${secret}`,
  'client-certificate: a.pem\n      client-key: ../b.pem',
  'exec: {apiVersion: client.authentication.k8s.io/v1, command: ./p, args: [a], env: [{name: A, value: b}]}',
  `username: u\n      password: ${secret}`,
  'as: admin',
] as const
const cluster = [
  'server: https://10.0.0.1:6443',
  'server: https://[fd00::1]/base',
  'server: http://h',
  'server: https://h\n      insecure-skip-tls-verify: true',
  `server: https://h\n      certificate-authority-data: ${secret}`,
  'server: https://h\n      proxy-url: http://p',
] as const

const text = (random: Random): string => `apiVersion: v1
kind: Config
current-context: c
contexts:
  - name: c
    context: {cluster: k, user: u}
clusters:
  - name: k
    cluster:
      ${random.pick(cluster)}
users:
  - name: u
    user:
      ${random.pick(user)}
`
const credential = `{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"${secret}","expirationTimestamp":"2026-01-01T00:00:00Z"}}`

export const kubeconfig: FuzzTarget = {
  name: 'kubeconfig',
  generate: (random: Random) => ({
    kubeconfig: mutateText(text(random), random),
    credential: mutateText(credential, random),
  }),
  run(input) {
    const given = input as { readonly kubeconfig: string; readonly credential: string }
    try {
      parseExecCredential(given.credential, 'client.authentication.k8s.io/v1')
    } catch (e) {
      checkRefusal(e)
    }
    try {
      const {
        server,
        insecure,
        user: who,
      } = parseKubeconfig(given.kubeconfig, '/etc/kubernetes/kubelet.conf')
      check(server.protocol === 'https:' || insecure, 'plain HTTP was accepted')
      check(server.username === '' && server.password === '', 'a password in the URL was accepted')
      for (const material of [who.certificate, who.key, who.token])
        if (material !== undefined && 'file' in material)
          check(material.file.startsWith('/'), 'a relative path was left')
      if (who.certificate !== undefined) check(who.key !== undefined, 'half a pair was accepted')
    } catch (e) {
      checkRefusal(e)
      throw e
    }
  },
}

function checkRefusal(e: unknown): void {
  if (!isKeelsonError(e)) throw e
  check(e.code === 'kubeapi.kubeconfig', `refused as ${e.code}`)
  check(e.cause === undefined, 'the cause may quote the file')
  check(
    !e.message.includes(secret) && !JSON.stringify(e.details).includes(secret),
    `the secret is shown: ${e.message}`,
  )
}
