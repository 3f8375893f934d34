// What a person sees while the node comes up: a line for each step with the time since the start.

export interface Progress {
  /** A finished step. */
  step(name: string, text: string): void
  /** Something that belongs to the step before. */
  detail(text: string): void
  seconds(): number
}

interface ProgressOptions {
  readonly write: (text: string) => void
  /** Of the whole command, so that the part in the lab goes on counting. */
  readonly startedMs: number
  readonly nowMs: () => number
}

const nameWidth = 12

export function createProgress({ write, startedMs, nowMs }: ProgressOptions): Progress {
  const seconds = (): number => (nowMs() - startedMs) / 1000
  return {
    seconds,
    step: (name, text) =>
      write(`[${seconds().toFixed(1).padStart(5)} s] ${name.padEnd(nameWidth)} ${text}\n`),
    detail: (text) => write(text.replace(/^(?=.)/gm, ' '.repeat(10)).replace(/\n?$/, '\n')),
  }
}
