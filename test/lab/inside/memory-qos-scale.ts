// A full node of real containers: a pass without a change reads and does nothing else, and what it costs.
import assert from 'node:assert/strict'
import type { TargetsInput } from '../../../src/core/memory-qos/targets.js'
import type { CgroupTree } from '../../../src/ports/cgroups.js'
import type { Check } from '../../support/check.js'
import {
  cgroups,
  client,
  expectPlan,
  type LabPod,
  newEngine,
  nodeInput,
  podOf,
  signal,
  startPod,
  tiered,
} from './memory-qos-node.js'

const podCount = 110
const startsAtOnce = 4
const running: LabPod[] = []
let input: TargetsInput = nodeInput(tiered)

/** Every call that could change something, seen from outside the engine. */
const changes: string[] = []

function watchedTree(): CgroupTree {
  const tree = Object.create(cgroups) as CgroupTree
  tree.write = (path, file, value) => {
    changes.push(`write ${path} ${file}`)
    cgroups.write(path, file, value)
  }
  tree.apply = async (path, values, given) => {
    changes.push(`apply ${path} ${Object.keys(values).join(' ')}`)
    await cgroups.apply(path, values, given)
  }
  return tree
}

const engine = () =>
  newEngine({
    cgroups: watchedTree(),
    runtime: {
      listContainers: (request, options) => client().runtime.listContainers(request, options),
      updateContainerResources: (request, options) => {
        changes.push(`update ${request.containerId ?? ''}`)
        return client().runtime.updateContainerResources(request, options)
      },
    },
  })

export const checks: readonly Check[] = [
  {
    name: `${podCount} pods run`,
    timeoutMs: 900_000,
    async run() {
      const wanted = Array.from({ length: podCount }, (_, n) =>
        podOf(`p${n}`, {
          containers: [
            { name: 'app', resources: { requests: { memory: '4Mi' }, limits: { memory: '16Mi' } } },
          ],
        }),
      )
      const left = [...wanted]
      await Promise.all(
        Array.from({ length: startsAtOnce }, async () => {
          for (let pod = left.shift(); pod !== undefined; pod = left.shift())
            running.push(await startPod(pod, { command: ['/bin/sleep', '100000'] }))
        }),
      )
      input = { ...input, pods: wanted }
    },
  },
  {
    name: 'the first pass brings every file to its value, the next ten change nothing',
    timeoutMs: 300_000,
    async run() {
      const kept = engine()
      const first = await kept.pass(input, { signal })
      assert.equal(first.calls, podCount)
      assert.ok(changes.length > podCount * 2, `${changes.length} changes seen`)
      const files = await expectPlan(input)
      assert.ok(files >= podCount * 6, `${files} files`)
      changes.length = 0
      const cpuMs: number[] = []
      for (let i = 0; i < 10; i++) {
        const before = process.cpuUsage()
        const report = await kept.pass(input, { signal })
        const { system, user } = process.cpuUsage(before)
        cpuMs.push((system + user) / 1000)
        assert.deepEqual(
          [report.writes, report.calls, report.drifts, report.failures, report.findings],
          [0, 0, 0, 0, []],
        )
      }
      assert.deepEqual(changes, [])
      return { files, medianCpuMs: cpuMs.toSorted((a, b) => a - b)[5] }
    },
  },
  {
    name: 'a new process compares with the files and changes nothing either',
    timeoutMs: 120_000,
    async run() {
      const report = await engine().pass(input, { signal })
      assert.deepEqual([report.writes, report.calls], [0, 0])
      assert.deepEqual(changes, [])
    },
  },
]
