// SIGINT and SIGTERM for a command: they abort a signal, and the command ends in good order. As long as nothing listens, they
// end the process at once.

interface SignalOptions {
  /** Default SIGINT and SIGTERM. */
  readonly names?: readonly NodeJS.Signals[]
  readonly onSignal?: (name: NodeJS.Signals) => void
  /** What the same signal does a second time: end the process at once (default), or nothing. */
  readonly again?: 'ends' | 'ignored'
}

/** Runs `work` with a signal that the first of these signals aborts, with its name as the reason. */
export async function untilSignal<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { names = ['SIGINT', 'SIGTERM'], onSignal, again = 'ends' }: SignalOptions = {},
): Promise<T> {
  const stop = new AbortController()
  const listener = (name: NodeJS.Signals): void => {
    if (again === 'ends') process.off(name, listener)
    if (stop.signal.aborted) return
    onSignal?.(name)
    stop.abort(new Error(name))
  }
  for (const name of names) process.on(name, listener)
  try {
    return await work(stop.signal)
  } finally {
    for (const name of names) process.off(name, listener)
  }
}
