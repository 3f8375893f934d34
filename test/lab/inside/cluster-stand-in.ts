// What a pod of a cluster has around it, for one that runs without one: an API server over HTTPS that lists pods and answers the
// two reviews, and the files of a service account.
import { mkdirSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { createServer } from 'node:https'
import { createSelfSigned } from '../../../src/adapters/tls/self-signed.js'
import { type ApiStub, startApiStub } from '../../memory-qos/api-stub.js'

export interface StandIn {
  readonly api: ApiStub
  readonly port: number
}

const reviews: Readonly<Record<string, object>> = {
  '/apis/authentication.k8s.io/v1/tokenreviews': { authenticated: true, user: { username: 'prometheus' } },
  '/apis/authorization.k8s.io/v1/subjectaccessreviews': { allowed: true },
}

export async function startStandIn(serviceAccount: string, token: string): Promise<StandIn> {
  const api = await startApiStub()
  const pair = await createSelfSigned('kube-apiserver', ['127.0.0.1'])
  const server = createServer({ cert: pair.certificate, key: pair.key }, (incoming, outgoing) => {
    const status = reviews[incoming.url ?? '']
    if (status !== undefined) {
      incoming.resume()
      outgoing.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify({ status }))
      return
    }
    const forwarded = request(
      new URL(incoming.url ?? '/', api.url),
      { method: incoming.method ?? 'GET' },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        outgoing.flushHeaders()
        answer.pipe(outgoing)
      },
    )
    forwarded.on('error', () => outgoing.destroy())
    outgoing.on('close', () => forwarded.destroy())
    incoming.pipe(forwarded)
  })
  const port = 6443
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  mkdirSync(serviceAccount, { recursive: true })
  writeFileSync(`${serviceAccount}/token`, token)
  writeFileSync(`${serviceAccount}/ca.crt`, pair.certificate)
  writeFileSync(`${serviceAccount}/namespace`, 'keelson')
  return { api, port }
}
