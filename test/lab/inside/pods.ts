// The kubelet runs pods on cgroup v2 with real containerd: values, in-place resize, OOMKilled, adoption, a sandbox that dies,
// and an end that leaves nothing, all read from the kernel's files. The driver of the machine comes in as LAB_DRIVER.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { imageReferences } from '../../../src/lab/images/images.js'
import type { Check } from '../../support/check.js'
import { cgroupRoot, driver, kernelValue, LabKubelet } from './pod-kubelet.js'

const kubelet = new LabKubelet()
const forever = 'trap "exit 0" TERM; while :; do sleep 0.2; done'
const shell = (name: string, script: string, more: object = {}): object => ({
  name,
  image: imageReferences.busybox,
  command: ['/bin/sh', '-c', script],
  ...more,
})
const sized = (requests: object, limits: object): object => ({
  terminationGracePeriodSeconds: 2,
  containers: [shell('app', forever, { resources: { requests, limits } })],
})
const MiB = 1024 * 1024
const timeoutMs = 150_000

export const checks: readonly Check[] = [
  {
    name: 'POD-100 cgroup v2: the values of a pod and its container, and where the kernel has them',
    timeoutMs,
    async run() {
      await kubelet.start()
      kubelet.pod('sized', sized({ cpu: '100m', memory: '32Mi' }, { cpu: '500m', memory: '64Mi' }))
      const { metadata } = await kubelet.running('sized')
      const { own, pod } = await kubelet.places('sized')
      const uid = metadata.uid
      assert.equal(
        pod,
        driver() === 'systemd'
          ? `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${uid}.slice`
          : `/kubepods/burstable/pod${uid}`,
      )
      for (const cgroup of [own, pod]) {
        assert.equal(kernelValue(cgroup, 'memory.max'), String(64 * MiB))
        assert.equal(kernelValue(cgroup, 'cpu.max'), '50000 100000')
        assert.equal(kernelValue(cgroup, 'cpu.weight'), '4')
      }
      assert.equal(kernelValue(own, 'memory.oom.group'), '1')
      return { own }
    },
  },
  {
    name: 'POD-101 cgroup v2: other cpu and memory in place, up and down, and the container is the same one',
    timeoutMs,
    async run() {
      const before = (await kubelet.containers('sized')).map((c) => c.id)
      const { own, pod } = await kubelet.places('sized')
      for (const [memory, cpu, bytes, quota] of [
        ['128Mi', '800m', 128 * MiB, '80000 100000'],
        ['48Mi', '250m', 48 * MiB, '25000 100000'],
      ] as const) {
        kubelet.pod('sized', sized({ cpu: '200m', memory: '16Mi' }, { cpu, memory }))
        for (const cgroup of [own, pod])
          await kubelet.until(
            `${cgroup} has ${memory}, ${cpu}`,
            () =>
              kernelValue(cgroup, 'memory.max') === String(bytes) && kernelValue(cgroup, 'cpu.max') === quota,
          )
      }
      assert.equal(kernelValue(own, 'cpu.weight'), '8')
      assert.deepEqual(
        (await kubelet.containers('sized')).map((c) => c.id),
        before,
      )
      const status = (await kubelet.podNamed('sized'))?.status.containerStatuses[0]
      assert.equal(status?.restartCount, 0)
    },
  },
  {
    name: 'POD-102 the scores of the OOM killer: BestEffort, Burstable, Guaranteed and the sandbox',
    timeoutMs,
    async run() {
      const same = { cpu: '50m', memory: '16Mi' }
      kubelet.pod('best', { terminationGracePeriodSeconds: 1, containers: [shell('app', forever)] })
      kubelet.pod('guaranteed', sized(same, same))
      const scoreOf = async (name: string): Promise<string> => {
        await kubelet.running(name)
        return readFileSync(`/proc/${(await kubelet.places(name)).pid}/oom_score_adj`, 'utf8').trim()
      }
      assert.equal(await scoreOf('best'), '1000')
      assert.equal(await scoreOf('guaranteed'), '-997')
      const burstable = Number(await scoreOf('sized'))
      assert.ok(burstable > 2 && burstable < 1000, String(burstable))
      const [sandbox] = await kubelet.sandboxes('best')
      const { info } = await kubelet.cri.runtime.podSandboxStatus({
        podSandboxId: sandbox?.id ?? '',
        verbose: true,
      })
      const { pid } = JSON.parse(info.info ?? '{}') as { readonly pid: number }
      assert.equal(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8').trim(), '-998')
      await kubelet.end('guaranteed')
      await kubelet.end('best')
      return { burstable }
    },
  },
  {
    name: 'POD-103 cgroup v2: more memory than the limit is OOMKilled, by the kernel of this pod alone',
    timeoutMs,
    async run() {
      kubelet.pod('oom', {
        restartPolicy: 'Never',
        // containerd 1.6 begins to listen for the kernel's event once the container runs; before that it would be missed.
        containers: [shell('app', 'sleep 4; exec hog 64 100', { resources: { limits: { memory: '16Mi' } } })],
      })
      const ended = await kubelet.until(
        'it is killed',
        async () => (await kubelet.podNamed('oom'))?.status.containerStatuses[0]?.state.terminated,
      )
      assert.equal(ended.reason, 'OOMKilled')
      assert.equal(ended.exitCode, 137)
      assert.equal((await kubelet.podNamed('oom'))?.status.phase, 'Failed')
      assert.equal(
        kernelValue((await kubelet.places('sized')).pod, 'memory.events').includes('oom_kill 0'),
        true,
      )
      await kubelet.end('oom')
    },
  },
  {
    name: 'POD-104 cgroup v2: the kubelet ends and starts again, and takes the pod over as it is',
    timeoutMs,
    async run() {
      const before = await kubelet.places('sized')
      const ids = (await kubelet.containers('sized')).map((c) => c.id)
      await kubelet.stop()
      await kubelet.start()
      await kubelet.running('sized')
      assert.deepEqual(await kubelet.places('sized'), before)
      assert.deepEqual(
        (await kubelet.containers('sized')).map((c) => c.id),
        ids,
      )
      assert.ok(kubelet.output().includes('adopting a running pod'))
      assert.equal(kernelValue(before.own, 'memory.max'), String(48 * MiB))
    },
  },
  {
    name: 'POD-105 cgroup v2: the sandbox dies under its pod; a new one is made and the app runs in it',
    timeoutMs,
    async run() {
      const [old] = await kubelet.sandboxes('sized')
      const { info } = await kubelet.cri.runtime.podSandboxStatus({
        podSandboxId: old?.id ?? '',
        verbose: true,
      })
      process.kill((JSON.parse(info.info ?? '{}') as { readonly pid: number }).pid, 'SIGKILL')
      await kubelet.until('it runs in another sandbox', async () => {
        const [ready] = (await kubelet.sandboxes('sized')).filter((s) => s.state === 0)
        const status = (await kubelet.podNamed('sized'))?.status.containerStatuses[0]
        return ready !== undefined && ready.id !== old?.id && status?.state.running !== undefined
      })
      const status = (await kubelet.podNamed('sized'))?.status.containerStatuses[0]
      assert.equal(status?.restartCount, 1)
      const { own } = await kubelet.places('sized')
      assert.equal(kernelValue(own, 'memory.max'), String(48 * MiB))
    },
  },
  {
    name: 'POD-106 cgroup v2: the end leaves no cgroup, directory or log, and the levels above stay',
    timeoutMs,
    async run() {
      await kubelet.end('sized')
      await kubelet.until('nothing is left', () => kubelet.leftovers().length === 0, 15_000)
      const above = driver() === 'systemd' ? '/kubepods.slice' : '/kubepods'
      assert.ok(readFileSync(`${cgroupRoot}${above}/cgroup.procs`, 'utf8') === '')
      await kubelet.stop()
    },
  },
]
