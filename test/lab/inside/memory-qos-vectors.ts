// The `transition` vectors on real files: `before` is put into the cgroups of a running pod, the engine makes a pass, and the
// kernel is read back. The same cases run on a tree in memory in vectors-runner/suites/memory-qos/transition.ts.
import assert from 'node:assert/strict'
import { formatCgroupPath } from '../../../src/core/cgroup/name.js'
import type { Check } from '../../support/check.js'
import vectors from '../../vectors/memory-qos.json' with { type: 'json' }
import { settingsWithDefaults } from '../../vectors-runner/suites/memory-qos/transition.js'
import { type Fields, fieldsAt, isFields } from '../../vectors-runner/types.js'
import {
  cgroups,
  client,
  containerPath,
  driver,
  type LabPod,
  newEngine,
  nodeInput,
  podOf,
  signal,
  startPod,
  text,
} from './memory-qos-node.js'

const path = (...name: readonly string[]): string => formatCgroupPath(name, driver())

const textsOf = (of: Fields, level: string): Record<string, string> => {
  const files = of[level]
  return Object.fromEntries(Object.entries(isFields(files) ? files : {}).map(([f, v]) => [f, String(v)]))
}

/** As somebody left them: above the container through the tree, in the container through its runtime. */
async function putBefore(before: Fields, pod: LabPod): Promise<void> {
  for (const [level, at] of [
    ['kubepods', path('kubepods')],
    ['burstable', path('kubepods', 'burstable')],
    ['pod', pod.path],
  ] as const) {
    const values = textsOf(before, level)
    if (Object.keys(values).length > 0) await cgroups.apply(at, values)
  }
  const { 'memory.max': _, ...unified } = textsOf(before, 'container')
  const containerId = pod.ids.get('container') ?? ''
  await client().runtime.updateContainerResources({ containerId, linux: { unified } })
}

async function readBack(expected: Fields, pod: LabPod): Promise<Record<string, Record<string, string>>> {
  const places: Record<string, string> = {
    kubepods: path('kubepods'),
    burstable: path('kubepods', 'burstable'),
    pod: pod.path,
    container: await containerPath(pod, 'container'),
  }
  return Object.fromEntries(
    Object.keys(expected).map((level) => [
      level,
      Object.fromEntries(
        Object.keys(textsOf(expected, level)).map((file) => [
          file,
          text(places[level] ?? '', file) ?? 'missing',
        ]),
      ),
    ]),
  )
}

async function runVector(input: Fields, expected: Fields): Promise<void> {
  const { resize } = input
  const resources = isFields(resize) ? fieldsAt(resize, 'to') : fieldsAt(input, 'container')
  const wanted = podOf('vector', { containers: [{ name: 'container', resources }] })
  const pod = await startPod(wanted)
  try {
    const before = fieldsAt(input, 'before')
    await putBefore(before, pod)
    assert.deepEqual(await readBack(before, pod), before)
    const report = await newEngine().pass(
      { ...nodeInput(settingsWithDefaults(input)), pods: [wanted] },
      { signal },
    )
    assert.equal(report.failures, 0, JSON.stringify(report.findings))
    assert.deepEqual(await readBack(expected, pod), expected)
  } finally {
    await pod.remove()
    await newEngine().pass(nodeInput(settingsWithDefaults({ config: { gate: false } })), { signal })
  }
}

const transitions = vectors.cases.filter((one) => one.kind === 'transition')

export const vectorChecks: readonly Check[] = [
  ...transitions.map(
    (vector): Check => ({
      name: `vector ${vector.id} on real files`,
      timeoutMs: 90_000,
      run: () => runVector(vector.input, fieldsAt(vector.expected as Fields, 'after')),
    }),
  ),
  {
    name: 'there are transition vectors',
    run: () => assert.ok(transitions.length >= 2),
  },
]
