// node --import tsx start-and-wait.ts OPTIONS: a control plane that stays until this process ends. The options are JSON.
import { type ControlPlaneOptions, startControlPlane } from './control-plane.js'

const plane = await startControlPlane(JSON.parse(process.argv[2] ?? '{}') as ControlPlaneOptions)
process.stdout.write(`ready ${plane.kubeconfig}\n`)
setInterval(() => {}, 3_600_000)
