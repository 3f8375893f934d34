// The contract on the real hierarchies of this machine: those that carry its controllers, and a cgroup2 beside v1.
import { describe, expect, test } from 'vitest'
import { startProcessIn } from '../../../test/contracts/cgroup-process.js'
import { cgroupContract, runContractCase } from '../../../test/contracts/cgroup-tree.js'
import { requires } from '../../../test/support/requirements.js'
import { readCgroupLayout } from './detect.js'
import { type Hierarchy, hierarchyOf, unifiedHierarchy } from './hierarchy.js'
import { CgroupFsTree } from './tree.js'

const layout = readCgroupLayout()
const subjects: [string, Hierarchy][] = [[`${layout.mode} of this machine`, hierarchyOf(layout)]]
if (layout.mode === 'hybrid' && layout.unified !== undefined)
  subjects.push(['cgroup2 beside v1', unifiedHierarchy(layout.unified)])

for (const [name, hierarchy] of subjects)
  describe(`contract: ${name}`, () => {
    const available = new CgroupFsTree(hierarchy).controllers('/') ?? []
    const cases = cgroupContract
      .filter((c) => c.version === undefined || c.version === hierarchy.version)
      .filter((c) => c.needs === undefined || available.includes(c.needs))
    for (const contract of cases)
      test(contract.name, async (ctx) => {
        requires(ctx, { root: true })
        const tree = new CgroupFsTree(hierarchy)
        const base = `/keelson-contract-${process.pid}`
        const subject = { tree, base, pageSize: 4096n, startProcess: startProcessIn(tree) }
        expect(await runContractCase(contract, subject).finally(() => tree.close())).toBe(true)
      })
  })

test('a process that is left in a cgroup is ended with it when that is asked for', async (ctx) => {
  requires(ctx, { root: true })
  const tree = new CgroupFsTree(hierarchyOf(layout))
  const path = `/keelson-kill-${process.pid}`
  await tree.ensure(path)
  const child = await startProcessIn(tree)(path)
  try {
    await expect(tree.remove(path, { timeoutMs: 50 })).rejects.toMatchObject({ code: 'cgroup.busy' })
    await tree.remove(path, { killProcesses: true })
    expect(tree.exists(path)).toBe(false)
  } finally {
    await child.end()
    tree.close()
  }
})
