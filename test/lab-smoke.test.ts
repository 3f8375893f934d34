// One boot of each UML fixture in the quick tier: if this fails, no lab scenario can be trusted.
import { labChecks } from './support/lab-checks.js'

const smoke = new URL('./lab/inside/smoke.ts', import.meta.url)

await labChecks('lab: UML', { place: 'uml', disksMiB: [16, 32], timeoutS: 120 }, smoke)
await labChecks('lab: UML with systemd', { place: 'uml-systemd', disksMiB: [16, 32], timeoutS: 180 }, smoke)
