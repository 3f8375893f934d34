// A shutdown of the machine waits for pods, with real systemd and its logind.
import { labChecks } from '../support/lab-checks.js'

await labChecks(
  'node shutdown in UML with systemd',
  { place: 'uml-systemd', containerd: { systemdCgroup: true }, timeoutS: 420 },
  new URL('./inside/node-shutdown.ts', import.meta.url),
)
