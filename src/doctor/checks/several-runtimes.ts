// Shared with preflight.
import { type Check, ok, warn } from '../check.js'

export const severalRuntimes: Check<{ readonly listening: readonly string[] }> = {
  name: 'several-runtimes',
  asks: 'Is it clear which runtime this node uses?',
  run: ({ listening }) =>
    listening.length > 1
      ? warn(`several runtimes answer: ${listening.join(', ')}`, 'stop the ones that are not used')
      : ok(...listening),
}
