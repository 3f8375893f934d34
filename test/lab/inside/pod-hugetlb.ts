// Huge page limits of pods that `keelson kubelet` runs, read from the kernel's files; a kernel with huge pages is needed.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { imageReferences } from '../../../src/lab/images/images.js'
import type { Check } from '../../support/check.js'
import { cgroupRoot, kernelValue, LabKubelet } from './pod-kubelet.js'

const kubelet = new LabKubelet()
const MiB = 1024 * 1024
const pod = (...limits: readonly object[]): object => ({
  terminationGracePeriodSeconds: 2,
  containers: limits.map((l, i) => ({
    name: `c${i}`,
    image: imageReferences.busybox,
    command: ['/bin/sh', '-c', 'trap "exit 0" TERM; while :; do sleep 0.2; done'],
    resources: { limits: { memory: '32Mi', cpu: '100m', ...l } },
  })),
})

/** The pod's own cgroup: the parent of its first container's. */
async function cgroupOfPod(name: string): Promise<string> {
  const { own } = await kubelet.places(name)
  return own.slice(0, own.lastIndexOf('/'))
}

const limitsOf = (cgroup: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(`${cgroupRoot}${cgroup}`)
      .filter((file) => /^hugetlb\..*max$/.test(file))
      .map((file) => [file, kernelValue(cgroup, file)]),
  )

export const hugetlbChecks: readonly Check[] = [
  {
    name: 'POD-107 huge pages: the pod cgroup has what its containers ask for together, and 0 of every other size',
    timeoutMs: 300_000,
    async run() {
      await kubelet.start()
      kubelet.pod('huge', pod({ 'hugepages-2Mi': '4Mi' }, { 'hugepages-2Mi': '2Mi' }))
      await kubelet.running('huge')
      const limits = limitsOf(await cgroupOfPod('huge'))
      assert.equal(limits['hugetlb.2MB.max'], String(6 * MiB))
      assert.equal(limits['hugetlb.2MB.rsvd.max'], String(6 * MiB))
      for (const [file, value] of Object.entries(limits))
        if (!file.startsWith('hugetlb.2MB.')) assert.equal(value, '0', file)
      kubelet.pod('plain', pod({}))
      await kubelet.running('plain')
      const none = limitsOf(await cgroupOfPod('plain'))
      assert.ok(Object.keys(none).length >= 2, JSON.stringify(none))
      assert.deepEqual(new Set(Object.values(none)), new Set(['0']))
      await kubelet.end('huge')
      await kubelet.end('plain')
      await kubelet.stop()
      return { limits }
    },
  },
]
