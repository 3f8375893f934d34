// Runs the credential plugin of a kubeconfig and keeps its answer until it expires. What the plugin prints is a credential:
// neither its output nor its complaints are shown.
import { execFile } from 'node:child_process'
import { keelsonError } from '../../core/errors.js'
import { parseTime } from '../../core/units/rfc3339.js'
import type { ApiAccess, ExecPlugin } from './kubeconfig.js'

interface ExecCredential {
  readonly token?: string
  readonly certificate?: string
  readonly key?: string
}

interface ExecCredentials {
  read(signal: AbortSignal): Promise<ExecCredential>
  /** The API server did not take it: ask the plugin again. */
  forget(): void
}

const timeoutMs = 30_000
const maxBytes = 1024 * 1024

export function createExecCredentials(
  plugin: ExecPlugin,
  cluster: Pick<ApiAccess, 'server' | 'insecure'> & { readonly caText?: string },
  env: NodeJS.ProcessEnv,
  nowMs: () => number,
): ExecCredentials {
  let kept: { readonly credential: ExecCredential; readonly untilMs: number } | undefined
  let running: Promise<ExecCredential> | undefined
  const ask = async (signal: AbortSignal): Promise<ExecCredential> => {
    const answer = await runPlugin(plugin, formatRequest(plugin, cluster), env, signal)
    const { credential, untilMs } = parseExecCredential(answer, plugin.apiVersion)
    kept = { credential, untilMs: untilMs ?? Number.POSITIVE_INFINITY }
    return credential
  }
  return {
    async read(signal) {
      if (kept !== undefined && nowMs() < kept.untilMs) return kept.credential
      running ??= ask(signal).finally(() => {
        running = undefined
      })
      return running
    },
    forget() {
      kept = undefined
    },
  }
}

const formatRequest = (
  plugin: ExecPlugin,
  { server, insecure, caText }: Parameters<typeof createExecCredentials>[1],
): string =>
  JSON.stringify({
    apiVersion: plugin.apiVersion,
    kind: 'ExecCredential',
    spec: {
      interactive: false,
      ...(plugin.provideClusterInfo
        ? {
            cluster: {
              server: server.href,
              ...(insecure ? { 'insecure-skip-tls-verify': true } : {}),
              ...(caText === undefined
                ? {}
                : { 'certificate-authority-data': Buffer.from(caText).toString('base64') }),
            },
          }
        : {}),
    },
  })

const runPlugin = (
  { command, args, env: own }: ExecPlugin,
  request: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(
      command,
      [...args],
      {
        env: { ...env, ...own, KUBERNETES_EXEC_INFO: request },
        timeout: timeoutMs,
        killSignal: 'SIGKILL',
        maxBuffer: maxBytes,
        signal,
        encoding: 'utf8',
      },
      (error, stdout) => {
        if (error === null) resolve(stdout)
        else reject(pluginError(command, reasonOf(error)))
      },
    )
  })

/** Never error.message: it repeats the command line with its arguments. */
const reasonOf = (error: Error & { code?: unknown; killed?: boolean; signal?: unknown }): string => {
  if (error.code === 'ENOENT') return 'there is no such program; install it, or correct exec.command'
  if (typeof error.code === 'number') return `it ended with status ${error.code}; run it by hand to see why`
  return error.killed === true
    ? `it did not answer in ${timeoutMs / 1000} s`
    : `it could not be run (${String(error.code)})`
}

const pluginError = (command: string, why: string) =>
  keelsonError('kubeapi.kubeconfig', `run the credential plugin ${command}: ${why}`, { command })

export function parseExecCredential(
  text: string,
  apiVersion: string,
): { readonly credential: ExecCredential; readonly untilMs: number | undefined } {
  const refuse = (why: string) =>
    keelsonError('kubeapi.kubeconfig', `read the answer of the credential plugin: ${why}`)
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    throw refuse('it is not JSON')
  }
  const fields = (value: unknown): Readonly<Record<string, unknown>> =>
    typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  const { apiVersion: found, kind, status } = fields(answer)
  if (kind !== 'ExecCredential' || found !== apiVersion)
    throw refuse(`it is not an ExecCredential of ${apiVersion}`)
  const { token, clientCertificateData, clientKeyData, expirationTimestamp } = fields(status)
  const hasPair = typeof clientCertificateData === 'string' && typeof clientKeyData === 'string'
  if (typeof token !== 'string' && !hasPair)
    throw refuse('it has neither a token nor a certificate with its key')
  const nanos = typeof expirationTimestamp === 'string' ? parseTime(expirationTimestamp) : undefined
  return {
    credential: {
      ...(typeof token === 'string' ? { token } : {}),
      ...(hasPair ? { certificate: clientCertificateData, key: clientKeyData } : {}),
    },
    untilMs: nanos === undefined ? undefined : Number(nanos / 1_000_000n),
  }
}
