// The one error class and the closed list of its codes. What a code means to a gRPC caller, an HTTP client
// or a shell lives in tables at the edges; every code is explained in docs/errors.md.

export const errorCodes = [
  'usage.invalid',
  'input.unreadable',
  'input.too-large',
  'input.not-text',
  'yaml.invalid',
  'quantity.invalid',
  'cgroup-name.invalid',
  'pod.invalid',
  'pod.volume',
  'pod.not-found',
  'pod.not-started',
  'kubelet.unreachable',
  'kubelet.no-answer',
  'kubelet.refused',
  'config.invalid',
  'config.kind',
  'version.unknown',
  'cgroup.denied',
  'cgroup.gone',
  'cgroup.busy',
  'cgroup.invalid-value',
  'cgroup.invalid-path',
  'cgroup.controller-missing',
  'cgroup.not-mounted',
  'cgroup.failed',
  'file.write-failed',
  'systemd.unavailable',
  'systemd.failed',
  'runtime.endpoint',
  'runtime.socket',
  'runtime.unavailable',
  'runtime.deadline',
  'runtime.cancelled',
  'runtime.unimplemented',
  'runtime.not-found',
  'runtime.too-large',
  'runtime.malformed',
  'runtime.failed',
  'runtime.config-file',
  'driver.unknown',
  'driver.no-answer',
  'driver.runtime-too-old',
  'driver.no-systemd',
  'host.cgroup-v1',
  'host.swap',
  'host.sysctl',
  'kubeapi.failed',
  'kubeapi.kubeconfig',
  'certificate.refused',
  'companion.journal',
  'companion.busy',
  'companion.rollback',
  'companion.source',
  'memory-qos.reserved-missing',
  'request.invalid',
  'request.unprocessable',
  'request.too-large',
  'request.timeout',
  'stats.node-unreadable',
  'tls.invalid',
  'token.insecure',
  'server.listen',
  'lab.missing',
  'lab.unsupported',
  'lab.cache',
  'lab.program',
  'lab.boot',
  'lab.containerd',
  'lab.port',
  'node.several-runtimes',
  'node.socket-unknown',
  'node.file-missing',
  'node.file-invalid',
  'node.patch',
  'node.cluster-incomplete',
  'node.preflight',
  'node.busy',
  'node.journal',
  'node.refused',
  'up.unsupported',
  'up.missing',
  'up.no-space',
  'up.port',
  'up.busy',
  'up.failed',
  'program.failed',
  'system.refused',
  'internal.unexpected',
] as const

export type ErrorCode = (typeof errorCodes)[number]

export type ErrorDetails = Readonly<Record<string, unknown>>

export class KeelsonError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetails

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'KeelsonError'
    this.code = code
    this.details = details
  }
}

/** The message says what was being done, to what, and what to try. */
export const keelsonError = (
  code: ErrorCode,
  message: string,
  details?: ErrorDetails,
  cause?: unknown,
): KeelsonError => new KeelsonError(code, message, details, cause)

export const isKeelsonError = (e: unknown): e is KeelsonError => e instanceof KeelsonError

/** What was thrown, as a sentence. */
export const messageOf = (e: unknown): string => (e instanceof Error ? e.message : String(e))

/** A plain Error is a bug of ours; it is shown as such and not dressed up as bad input. */
export const asKeelsonError = (e: unknown): KeelsonError =>
  isKeelsonError(e) ? e : keelsonError('internal.unexpected', messageOf(e), {}, e)

/** For those who log an error and go on: a bug of ours is thrown on, everything else is returned. */
export function rethrowBug(e: unknown): KeelsonError {
  const error = asKeelsonError(e)
  if (error.code === 'internal.unexpected') throw e
  return error
}
