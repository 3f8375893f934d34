// A log that keeps its lines for a test to look at.
import type { Log, LogFields, LogLevel } from '../ports/log.js'

export interface LogLine {
  readonly level: LogLevel
  readonly message: string
  readonly fields: LogFields
}

export class FakeLog implements Log {
  constructor(
    readonly lines: LogLine[] = [],
    private readonly always: LogFields = {},
  ) {}

  debug(message: string, fields?: LogFields): void {
    this.add('debug', message, fields)
  }
  info(message: string, fields?: LogFields): void {
    this.add('info', message, fields)
  }
  warn(message: string, fields?: LogFields): void {
    this.add('warn', message, fields)
  }
  error(message: string, fields?: LogFields): void {
    this.add('error', message, fields)
  }
  with(fields: LogFields): Log {
    return new FakeLog(this.lines, { ...this.always, ...fields })
  }
  /** Messages of one level. */
  messages(level: LogLevel): string[] {
    return this.lines.filter((line) => line.level === level).map((line) => line.message)
  }
  private add(level: LogLevel, message: string, fields: LogFields = {}): void {
    this.lines.push({ level, message, fields: { ...this.always, ...fields } })
  }
}
