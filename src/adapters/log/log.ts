// The log on pino, written straight to a descriptor: no worker, nothing lost when the process ends. Two forms: JSON, and
// the line that Kubernetes components print.
import pino, { type DestinationStream, type Logger } from 'pino'
import { isKeelsonError } from '../../core/errors.js'
import type { Log, LogFields, LogLevel } from '../../ports/log.js'
import { formatKlogLine } from './klog.js'

interface LogOptions {
  readonly format: 'text' | 'json'
  /** Default info. */
  readonly level?: LogLevel
  /** Where lines go. Default: standard error. */
  readonly write?: (line: string) => void
}

/** Values that JSON cannot hold, and errors with what a reader needs of them. */
function plainFields(fields: LogFields): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, plainValue(value)]))
}

function plainValue(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (isKeelsonError(value)) return { code: value.code, message: value.message }
  return value instanceof Error ? value.message : value
}

function destination({ format, write }: LogOptions): DestinationStream {
  const sink = write ?? stderrSink()
  if (format === 'json') return { write: sink }
  return { write: (line: string) => sink(formatKlogLine(JSON.parse(line), process.pid)) }
}

function stderrSink(): (line: string) => void {
  const stream = pino.destination({ fd: 2, sync: true })
  return (line) => {
    stream.write(line)
  }
}

export function createLog(options: LogOptions): Log {
  const logger = pino(
    {
      level: options.level ?? 'info',
      base: null,
      formatters: { level: (label) => ({ level: label }) },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      messageKey: 'msg',
    },
    destination(options),
  )
  return wrap(logger)
}

const wrap = (logger: Logger): Log => ({
  debug: (message, fields = {}) => logger.debug(plainFields(fields), message),
  info: (message, fields = {}) => logger.info(plainFields(fields), message),
  warn: (message, fields = {}) => logger.warn(plainFields(fields), message),
  error: (message, fields = {}) => logger.error(plainFields(fields), message),
  with: (fields) => wrap(logger.child(plainFields(fields))),
})
