// The cgroup contract on real kernels: v2 in UML, whatever this machine has outside.
import { labChecks } from '../support/lab-checks.js'

const contract = new URL('./inside/cgroup-contract.ts', import.meta.url)

await labChecks('cgroup contract in UML', { place: 'uml', timeoutS: 180 }, contract)
await labChecks('cgroup contract on the host', { place: 'host', timeoutS: 120 }, contract)
