// A reboot of a machine with real systemd and logind: the kubelet holds it up until its pods have ended, regular ones before critical
// ones. The target of the reboot is masked meanwhile, so that logind takes it back in the end and there is a machine left to look at.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PodJson } from '../../../src/core/pod/document.js'
import { imageReferences } from '../../../src/lab/images/images.js'
import type { Check } from '../../support/check.js'
import { commandFromHere, LabKubelet } from './lab-kubelet.js'

await commandFromHere()

const kubelet = new LabKubelet()

function must(command: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  assert.equal(status, 0, `${command} ${args.join(' ')}\n${stdout}${stderr}`)
  return stdout.trim()
}

async function until(what: string, seconds: number, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + seconds * 1000; !(await isSo()); await sleep(200))
    if (Date.now() > end) assert.fail(`${what}: not within ${seconds} s\n${kubelet.output()}`)
}

const statusOf = async (name: string): Promise<PodJson['status'] | undefined> => {
  const { items } = JSON.parse(await kubelet.page('/pods')) as { items: PodJson[] }
  return items.find((pod) => pod.metadata.name === `${name}-lab`)?.status
}

/** Takes three seconds to end. */
const slow = {
  name: 'app',
  image: imageReferences.busybox,
  command: ['/bin/sh', '-c', 'trap "sleep 3; exit 1" TERM; while :; do sleep 0.2; done'],
}
const delay = (): string =>
  must(
    'busctl',
    'get-property',
    'org.freedesktop.login1',
    '/org/freedesktop/login1',
    'org.freedesktop.login1.Manager',
    'InhibitDelayMaxUSec',
  )

export const checks: readonly Check[] = [
  {
    name: 'the kubelet holds a lock of logind, and logind allows as long as pods may take',
    async run() {
      // Masked in this machine because most scenarios do not need it.
      rmSync('/etc/systemd/system/systemd-logind.service', { force: true })
      must('systemctl', 'daemon-reload')
      must('systemctl', 'start', 'systemd-logind')
      await kubelet.start({
        driver: 'systemd',
        config: 'shutdownGracePeriod: 40s\nshutdownGracePeriodCriticalPods: 20s',
      })
      kubelet.putPod('web', { containers: [slow] })
      kubelet.putPod('dns', { priority: 2_000_000_000, containers: [slow] })
      for (const name of ['web', 'dns'])
        await until(`${name} runs`, 60, async () => (await statusOf(name))?.phase === 'Running')
      await until('it is ready for a shutdown', 30, () =>
        kubelet.output().includes('a shutdown of the machine waits for pods'),
      )
      assert.match(must('systemd-inhibit', '--list', '--no-pager'), /kubelet .*shutdown .*delay/)
      assert.equal(delay(), 't 40000000')
      assert.doesNotMatch(kubelet.output(), /logind allows less time/)
    },
  },
  {
    name: 'a reboot ends regular pods, then critical ones, and goes on when they have ended',
    async run() {
      const began = Date.now()
      must(
        'busctl',
        'call',
        'org.freedesktop.login1',
        '/org/freedesktop/login1',
        'org.freedesktop.login1.Manager',
        'Reboot',
        'b',
        'false',
      )
      // Not before: logind refuses a reboot whose target is masked with "Access denied".
      must('systemctl', 'mask', '--runtime', 'reboot.target')
      await until('the shutdown is noticed', 10, () => kubelet.output().includes('the machine shuts down'))
      await until('logind went on', 60, () =>
        kubelet.output().includes('the shutdown of the machine was cancelled'),
      )
      const took = (Date.now() - began) / 1000
      // Three seconds for each group, and not the whole time of either.
      assert.ok(took > 5 && took < 35, `took ${took} s`)
      for (const name of ['web', 'dns']) {
        const status = await statusOf(name)
        assert.equal(status?.phase, 'Failed', name)
        assert.equal(status?.reason, 'Terminated', name)
        assert.equal(status?.message, 'Pod was terminated in response to imminent node shutdown.')
      }
      const ended = [...kubelet.output().matchAll(/shutdown: ending pods.*?lab\/(\w+)-lab/g)].map((m) => m[1])
      assert.deepEqual(ended, ['web', 'dns'])
    },
  },
  {
    name: 'after the cancelled shutdown the lock is held again, and released with the kubelet',
    async run() {
      const isHeld = (): boolean =>
        /kubelet .*shutdown .*delay/.test(must('systemd-inhibit', '--list', '--no-pager'))
      await until('the lock is back', 20, isHeld)
      await kubelet.stop('SIGKILL')
      await until('the lock went with the process', 10, () => !isHeld())
    },
  },
]
