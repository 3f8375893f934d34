// Shared with preflight.
import { type Check, ok, warn } from '../check.js'

export const severalRuntimes: Check<{ readonly listening: readonly string[] }> = {
  name: 'several-runtimes',
  asks: 'Is it clear which runtime this node uses?',
  run: ({ listening }) =>
    listening.length > 1
      ? warn(`several runtimes are running: ${listening.join(', ')}`, 'stop the unused ones')
      : ok(...listening),
}
