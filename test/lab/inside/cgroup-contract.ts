// The contract that every cgroup tree keeps, on the real kernel of a machine.
import { readCgroupLayout } from '../../../src/adapters/cgroups/detect.js'
import { createCgroupTree } from '../../../src/adapters/cgroups/tree.js'
import { createProcfs } from '../../../src/adapters/procfs/procfs.js'
import { startProcessIn } from '../../contracts/cgroup-process.js'
import { cgroupContract, runContractCase } from '../../contracts/cgroup-tree.js'
import { type Check, NotHere } from '../../support/check.js'

export const checks: readonly Check[] = cgroupContract.map(({ name, ...rest }) => ({
  name,
  async run() {
    const tree = createCgroupTree(readCgroupLayout())
    const base = `/keelson-contract-${process.pid}`
    try {
      const pageSize = createProcfs().pageSize()
      const ran = await runContractCase(
        { name, ...rest },
        { tree, base, pageSize, startProcess: startProcessIn(tree) },
      )
      return ran
        ? undefined
        : new NotHere(
            rest.version === undefined ? `no ${rest.needs} controller` : `a case of cgroup ${rest.version}`,
          )
    } finally {
      tree.close()
    }
  },
}))
