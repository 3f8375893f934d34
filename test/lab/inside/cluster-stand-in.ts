// What a companion has around it in a cluster, for one that runs without: over TLS the API server, which lists pods and answers
// the two reviews, and the kubelet with its own certificate; and the files of a service account.
import { mkdirSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { createSelfSigned } from '../../../src/adapters/tls/self-signed.js'
import type { ApiStub } from '../../memory-qos/api-stub.js'

export const serviceAccount = '/run/service-account'
export const apiPort = 6443
export const token = 'token-of-the-service-account'

const reviews: Readonly<Record<string, object>> = {
  '/apis/authentication.k8s.io/v1/tokenreviews': { authenticated: true, user: { username: 'prometheus' } },
  '/apis/authorization.k8s.io/v1/subjectaccessreviews': { allowed: true },
}

function forward(api: ApiStub, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const target = new URL(incoming.url ?? '/', api.url)
  const forwarded = request(target, { method: incoming.method ?? 'GET' }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
    outgoing.flushHeaders()
    answer.pipe(outgoing)
  })
  forwarded.on('error', () => outgoing.destroy())
  outgoing.on('close', () => forwarded.destroy())
  incoming.pipe(forwarded)
}

/** Its certificate. */
async function serve(
  name: string,
  port: number,
  handle: (incoming: IncomingMessage, outgoing: ServerResponse) => void,
): Promise<string> {
  const pair = await createSelfSigned(name, ['127.0.0.1'])
  const server = createServer({ cert: pair.certificate, key: pair.key }, handle)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  server.unref()
  return pair.certificate
}

export async function startApiServer(api: ApiStub): Promise<void> {
  const certificate = await serve('kube-apiserver', apiPort, (incoming, outgoing) => {
    const status = reviews[incoming.url ?? '']
    if (status === undefined) return forward(api, incoming, outgoing)
    incoming.resume()
    outgoing.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify({ status }))
  })
  mkdirSync(serviceAccount, { recursive: true })
  for (const [name, text] of Object.entries({ token, 'ca.crt': certificate, namespace: 'keelson' }))
    writeFileSync(`${serviceAccount}/${name}`, text)
}

/** As kubeadm leaves it: self-signed, the certificate in its directory. Only who brings the token gets an answer. */
export async function startKubelet(api: ApiStub): Promise<void> {
  const certificate = await serve('node-1', 10250, (incoming, outgoing) => {
    if (incoming.headers.authorization === `Bearer ${token}`) return forward(api, incoming, outgoing)
    outgoing.writeHead(401).end()
  })
  mkdirSync('/var/lib/kubelet/pki', { recursive: true })
  writeFileSync('/var/lib/kubelet/pki/kubelet.crt', certificate)
}
