// The kernel's OOM killer acts twice: within the limit of a cgroup, which is no event of the node, and because the whole machine is out
// of memory, which is one.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClock } from '../../../src/adapters/clock/clock.js'
import { createKernelLog } from '../../../src/adapters/procfs/kernel-log.js'
import { FakeLog } from '../../../src/fakes/log.js'
import { watchOom } from '../../../src/kubelet/node/watch-oom.js'
import type { Check } from '../../support/check.js'

const log = new FakeLog()
const events: string[] = []

/** Takes ever more memory until it is killed. */
function startHog(cgroup?: string): ChildProcess {
  const program = `process.title = 'oom-hog'; const kept = []; for (;;) kept.push(Buffer.alloc(4 << 20, 1))`
  const into = cgroup === undefined ? '' : `echo $$ > ${cgroup}/cgroup.procs; `
  const script = `${into}echo 1000 > /proc/self/oom_score_adj; exec "$0" -e "$1"`
  return spawn('/bin/sh', ['-c', script, process.execPath, program], { stdio: 'ignore' })
}

async function killed(hog: ChildProcess): Promise<number> {
  const [, signal] = (await once(hog, 'exit')) as [number | null, string | null]
  assert.equal(signal, 'SIGKILL')
  return hog.pid ?? 0
}

async function until(what: string, isSo: () => boolean): Promise<void> {
  for (const end = Date.now() + 30_000; !isSo(); await sleep(100))
    assert.ok(Date.now() < end, `${what}: ${JSON.stringify({ events, lines: log.lines })}`)
}

export const checks: readonly Check[] = [
  {
    name: 'a kill within the limit of a cgroup is a line of the log and no event',
    async run() {
      void watchOom({
        kernel: createKernelLog(),
        clock: createClock(),
        log,
        event: ({ reason, message }) => events.push(`${reason}: ${message}`),
        signal: new AbortController().signal,
      })
      await sleep(3_000) // what is in the log by then is of the time before
      const cgroup = '/sys/fs/cgroup/limited'
      mkdirSync(cgroup)
      writeFileSync(`${cgroup}/memory.max`, String(96 << 20))
      const pid = await killed(startHog(cgroup))
      await until('the log names it', () => log.lines.some((l) => l.fields?.['pid'] === pid))
      assert.deepEqual(events, [])
    },
  },
  {
    name: 'the machine is out of memory: one event SystemOOM with the process and its pid',
    async run() {
      const pid = await killed(startHog())
      await until('there is an event', () => events.length > 0)
      assert.equal(events.length, 1)
      assert.match(
        events[0] ?? '',
        new RegExp(`^SystemOOM: System OOM encountered, victim process: .+, pid: ${pid}$`),
      )
    },
  },
]
