// Reads and writes single API objects for a unit, independent of the client that Keelson itself uses.
import { request } from 'node:https'

const TIMEOUT_MS = 15_000
const ANSWER_LIMIT = 16 * 1024 * 1024

export interface ApiObject {
  readonly metadata?: {
    readonly name?: string
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly data?: Readonly<Record<string, string>>
}

/** A bearer token, or a client certificate with its key in PEM. */
export type ApiCredential =
  | { readonly token: string }
  | { readonly certificate: string; readonly key: string }

export interface ApiClient {
  /** undefined: there is no such object. */
  get(path: string): Promise<string | undefined>
  getObject<T = ApiObject>(path: string): Promise<T | undefined>
  create(path: string, body: unknown): Promise<void>
  /** A JSON merge patch. */
  patch(path: string, body: unknown): Promise<void>
  remove(path: string): Promise<void>
}

export function createApiClient(server: string, credential: ApiCredential, ca: string): ApiClient {
  const isToken = 'token' in credential
  const tls = isToken ? { ca } : { ca, cert: credential.certificate, key: credential.key }
  const authorization = isToken ? { authorization: `Bearer ${credential.token}` } : {}
  const call = (method: string, path: string, body?: unknown, type = 'application/json') =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const headers = {
        ...authorization,
        ...(body === undefined ? {} : { 'content-type': type }),
      }
      const outgoing = request(
        new URL(path, server),
        { method, ...tls, headers, timeout: TIMEOUT_MS },
        (answer) => {
          let text = ''
          answer.setEncoding('utf8').on('data', (chunk: string) => {
            text += chunk
            if (text.length > ANSWER_LIMIT)
              outgoing.destroy(new Error(`${path}: answer beyond ${ANSWER_LIMIT} bytes`))
          })
          answer.once('error', reject).once('end', () => resolve({ status: answer.statusCode ?? 0, text }))
        },
      )
      outgoing.once('timeout', () => outgoing.destroy(new Error(`${path}: no answer in ${TIMEOUT_MS} ms`)))
      outgoing.once('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
    })
  const must = async (method: string, path: string, body?: unknown, type?: string): Promise<void> => {
    const { status, text } = await call(method, path, body, type)
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text.slice(0, 500)}`)
  }
  const get = async (path: string) => {
    const { status, text } = await call('GET', path)
    if (status === 404) return undefined
    if (status >= 300) throw new Error(`GET ${path}: ${status} ${text.slice(0, 500)}`)
    return text
  }
  return {
    get,
    getObject: async <T = ApiObject>(path: string) => {
      const text = await get(path)
      return text === undefined ? undefined : (JSON.parse(text) as T)
    },
    create: (path, body) => must('POST', path, body),
    patch: (path, body) => must('PATCH', path, body, 'application/merge-patch+json'),
    remove: async (path) => {
      const { status, text } = await call('DELETE', path)
      if (status >= 300 && status !== 404) throw new Error(`DELETE ${path}: ${status} ${text.slice(0, 500)}`)
    },
  }
}
