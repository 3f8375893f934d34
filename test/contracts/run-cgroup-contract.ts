// Runs the cgroup contract on this machine's hierarchy, outside a test runner: `tsx test/contracts/run-cgroup-contract.ts`
// inside a lab bed. Ends in counts and status 1 when a case failed.
import { readCgroupLayout } from '../../src/adapters/cgroups/detect.js'
import { createCgroupTree } from '../../src/adapters/cgroups/tree.js'
import { createProcfs } from '../../src/adapters/procfs/procfs.js'
import { startProcessIn } from './cgroup-process.js'
import { cgroupContract, runContractCase } from './cgroup-tree.js'

const layout = readCgroupLayout()
const counts = { passed: 0, failed: 0, skipped: 0 }
for (const contract of cgroupContract) {
  const tree = createCgroupTree(layout)
  const subject = {
    tree,
    base: `/keelson-contract-${process.pid}`,
    pageSize: createProcfs().pageSize(),
    startProcess: startProcessIn(tree),
  }
  try {
    const ran = await runContractCase(contract, subject)
    counts[ran ? 'passed' : 'skipped']++
    console.log(`${ran ? 'ok' : 'skipped'} ${contract.name}`)
  } catch (error) {
    counts.failed++
    console.log(`FAILED ${contract.name}: ${error instanceof Error ? error.message : String(error)}`)
  } finally {
    tree.close()
  }
}
console.log(
  `cgroup ${layout.mode}: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`,
)
process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1
