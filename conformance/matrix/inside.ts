// The program of a cell, inside its environment.
import type { CellPlan } from './cell-plan.js'
import { runCrictlCell } from './crictl-checks.js'
import { runCritestCell } from './critest-checks.js'
import { runKubeletCell } from './kubelet-checks.js'

const plan = JSON.parse(process.argv[2] ?? '{}') as CellPlan
if (plan.client === 'crictl') await runCrictlCell(plan)
else if (plan.client === 'critest') await runCritestCell(plan)
else await runKubeletCell(plan)
process.exit(0)
