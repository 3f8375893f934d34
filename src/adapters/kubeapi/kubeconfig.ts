// A kubeconfig as a value: which server the current context means, and what shows who we are. Text in, value out; files that
// it names are read by credentials.ts. What cannot be honoured is refused, because leaving it out would change who we are.
import { dirname, isAbsolute, resolve } from 'node:path'
import { parse } from 'yaml'
import { keelsonError } from '../../core/errors.js'

/** Text in the kubeconfig itself, or the file that has it. */
export type Material = { readonly text: string } | { readonly file: string }

export interface ExecPlugin {
  readonly apiVersion: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly provideClusterInfo: boolean
}

export interface ApiUser {
  readonly certificate?: Material
  readonly key?: Material
  /** Beats a token of the kubeconfig itself, as the file is the one that is renewed. */
  readonly token?: Material
  readonly basic?: { readonly username: string; readonly password: string }
  readonly exec?: ExecPlugin
}

export interface ApiAccess {
  readonly server: URL
  readonly ca?: Material
  readonly insecure: boolean
  /** Name that the server's certificate has to have, where it is not that of the URL. */
  readonly serverName?: string
  readonly user: ApiUser
  /** A certificate with its key in one file, used in place of the user's own while it is there. */
  readonly pairFile?: string
}

type Fields = Readonly<Record<string, unknown>>

/** Anchors of a hostile file must not multiply. */
const maxAliasCount = 100

export function parseKubeconfig(text: string, path: string): ApiAccess {
  try {
    const root = asFields(parse(text, { maxAliasCount, logLevel: 'error' }), 'the file')
    const directory = dirname(resolve(path))
    const contextName = textAt(root, 'current-context')
    if (contextName === undefined) throw new Error('it has no current-context')
    const context = named(root, 'contexts', contextName, 'context')
    const cluster = named(root, 'clusters', textAt(context, 'cluster') ?? '', 'cluster')
    const userName = textAt(context, 'user')
    const user = userName === undefined ? {} : named(root, 'users', userName, 'user')
    return { ...readCluster(cluster, directory), user: readUser(user, directory) }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    // The parser's errors quote lines of the file, and a line may be a key.
    const shown = cause instanceof Error && cause.name.startsWith('YAML') ? 'it is not YAML' : why
    throw keelsonError('kubeapi.kubeconfig', `read kubeconfig ${path}: ${shown}`, { path })
  }
}

function readCluster(cluster: Fields, directory: string): Omit<ApiAccess, 'user'> {
  const server = parseServer(textAt(cluster, 'server'))
  const ca = material(cluster, 'certificate-authority', directory)
  const insecure = cluster['insecure-skip-tls-verify'] === true
  const serverName = textAt(cluster, 'tls-server-name')
  if (insecure && ca !== undefined)
    throw new Error('it has both certificate-authority and insecure-skip-tls-verify; remove one of them')
  if (server.protocol === 'http:' && !insecure)
    throw new Error('its server is plain HTTP; use https, or set insecure-skip-tls-verify for a test')
  if (textAt(cluster, 'proxy-url') !== undefined)
    throw new Error('it has proxy-url, which is not supported; give a server that is reached directly')
  return {
    server,
    ...(ca === undefined ? {} : { ca }),
    insecure,
    ...(serverName === undefined ? {} : { serverName }),
  }
}

function parseServer(text: string | undefined): URL {
  if (text === undefined) throw new Error('its cluster has no server')
  if (!URL.canParse(text)) throw new Error('its server is not a URL; write https://HOST:PORT')
  const server = new URL(text)
  if (server.protocol !== 'https:' && server.protocol !== 'http:')
    throw new Error('its server is not a URL of HTTPS; write https://HOST:PORT')
  if (server.username !== '' || server.password !== '')
    throw new Error('its server has a user and a password in the URL; put them into the user')
  return server
}

function readUser(user: Fields, directory: string): ApiUser {
  for (const field of ['auth-provider', 'as', 'as-uid', 'as-groups', 'as-user-extra'])
    if (user[field] !== undefined && user[field] !== null && user[field] !== '')
      throw new Error(`its user has ${field}, which is not supported`)
  const certificate = material(user, 'client-certificate', directory)
  const key = material(user, 'client-key', directory)
  if ((certificate === undefined) !== (key === undefined))
    throw new Error('its user has only one of client-certificate and client-key')
  const tokenFile = textAt(user, 'tokenFile')
  const token = textAt(user, 'token')
  const username = textAt(user, 'username')
  const exec =
    user['exec'] === undefined || user['exec'] === null ? undefined : readExec(user['exec'], directory)
  return {
    ...(certificate === undefined ? {} : { certificate }),
    ...(key === undefined ? {} : { key }),
    ...(tokenFile !== undefined
      ? { token: { file: resolve(directory, tokenFile) } }
      : token === undefined
        ? {}
        : { token: { text: token } }),
    ...(username === undefined ? {} : { basic: { username, password: textAt(user, 'password') ?? '' } }),
    ...(exec === undefined ? {} : { exec }),
  }
}

const execVersions = new Set(['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'])

function readExec(value: unknown, directory: string): ExecPlugin {
  const exec = asFields(value, 'exec')
  const command = textAt(exec, 'command')
  const apiVersion = textAt(exec, 'apiVersion') ?? ''
  if (command === undefined) throw new Error('its exec has no command')
  if (!execVersions.has(apiVersion))
    throw new Error('its exec has an apiVersion other than client.authentication.k8s.io/v1 and v1beta1')
  if (exec['interactiveMode'] === 'Always')
    throw new Error('its exec has to ask a person (interactiveMode: Always)')
  const args = exec['args'] ?? []
  if (!Array.isArray(args) || !args.every((a) => typeof a === 'string'))
    throw new Error('args of its exec is not a list of texts')
  const env = asList(exec['env'], 'env of its exec').map((e) => [
    textAt(e, 'name') ?? '',
    textAt(e, 'value') ?? '',
  ])
  return {
    apiVersion,
    // A path is meant from where the kubeconfig is; a bare name is looked up in PATH.
    command: command.includes('/') && !isAbsolute(command) ? resolve(directory, command) : command,
    args,
    env: Object.fromEntries(env) as Record<string, string>,
    provideClusterInfo: exec['provideClusterInfo'] === true,
  }
}

/** `NAME-data` is base64 and beats the file `NAME`. */
function material(from: Fields, name: string, directory: string): Material | undefined {
  const data = textAt(from, `${name}-data`)
  if (data !== undefined) return { text: decodeBase64(data, `${name}-data`) }
  const file = textAt(from, name)
  return file === undefined ? undefined : { file: resolve(directory, file) }
}

function decodeBase64(data: string, field: string): string {
  const compact = data.replace(/\s/g, '')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(compact)) throw new Error(`${field} is not base64`)
  return Buffer.from(compact, 'base64').toString('utf8')
}

function named(root: Fields, list: string, name: string, field: string): Fields {
  const found = asList(root[list], list).find((entry) => entry['name'] === name)
  if (found === undefined) throw new Error(`its ${list} do not have the ${field} that is named`)
  return asFields(found[field], `the ${field}`)
}

const asList = (value: unknown, what: string): readonly Fields[] => {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw new Error(`${what} is not a list`)
  return value.map((entry) => asFields(entry, `an entry of ${what}`))
}

function asFields(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${what} is not a mapping`)
  return value as Fields
}

function textAt(from: Fields, field: string): string | undefined {
  const value = from[field]
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string') throw new Error(`${field} is not text`)
  return value
}
