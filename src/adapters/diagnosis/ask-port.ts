// One GET without credentials: what a stranger on this machine gets to see. Only the status is kept.
import { request as requestPlain } from 'node:http'
import { request as requestTls } from 'node:https'
import type { PortAnswer, PortQuestion } from '../../ports/diagnosis.js'

export const askPort = (question: PortQuestion, timeoutMs: number): Promise<PortAnswer> =>
  new Promise((resolve) => {
    const { address: host, port, path, tls } = question
    const end = (answer: PortAnswer['answer']): void => {
      clearTimeout(timer)
      request.destroy()
      resolve({ ...question, answer })
    }
    const options = { host, port, path, method: 'GET', agent: false }
    const request = tls
      ? // The question is who is let in, not who answers: a self-signed certificate is as good as any.
        requestTls({ ...options, rejectUnauthorized: false })
      : requestPlain(options)
    const timer = setTimeout(() => end('silent'), timeoutMs)
    request.once('response', (response) => end(response.statusCode ?? 'silent'))
    request.on('error', (e: NodeJS.ErrnoException) => end(e.code === 'ECONNREFUSED' ? 'closed' : 'silent'))
    request.end()
  })
