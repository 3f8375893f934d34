import { expect, test } from 'vitest'
import type { ExplainedCgroup } from '../../core/plan/explain.js'
import { value } from '../../core/plan/planned-value.js'
import { bytes, GiB, MiB } from '../../core/units/bytes.js'
import { evictionNotes } from './eviction-notes.js'

const cgroup = (
  level: ExplainedCgroup['level'],
  title: string,
  file: string,
  amount: bigint,
): ExplainedCgroup => ({
  level,
  title,
  paths: { cgroupfs: '', systemd: '' },
  files: [{ file, outcome: value(amount, 'formula', '') }],
})
const explanation = (min: bigint, high: bigint) => ({
  pods: [
    {
      origin: '',
      namespace: 'default',
      name: 'web',
      qosClass: 'Burstable' as const,
      containers: [cgroup('container', 'container app', 'memory.high', high)],
      pod: cgroup('pod', 'pod web', 'memory.max', 1n),
    },
  ],
  ancestors: [cgroup('kubepods', 'kubepods', 'memory.min', min)],
})

test('memory.min and memory.high beside the threshold of a node with 1 GiB', () => {
  const notes = evictionNotes(explanation(GiB, GiB - 50n * MiB), bytes(GiB), '100Mi')
  expect(notes).toHaveLength(2)
  expect(notes[0]).toMatch(/^memory\.min protects 1Gi of pods, .*; lower the requests/)
  expect(notes[1]).toMatch(/^memory\.high of container app of pod web \(974Mi\) is above 924Mi/)
})

test('no threshold, or an unknown capacity: no note', () => {
  expect(evictionNotes(explanation(GiB, GiB), bytes(GiB), '0%')).toEqual([])
  expect(evictionNotes(explanation(GiB, GiB), undefined, '100Mi')).toEqual([])
})
