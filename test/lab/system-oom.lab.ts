// The events of the Node when a real kernel runs out of memory.
import { labChecks } from '../support/lab-checks.js'

await labChecks(
  'SystemOOM in UML',
  { place: 'uml', memoryMiB: 512, timeoutS: 150 },
  new URL('./inside/system-oom.ts', import.meta.url),
)
