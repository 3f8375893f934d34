// kill -9 of `keelson companion` at random points of applying, and of its rollback at random points of taking back, on a real
// kernel: the next start converges, and the way back stays exact.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../fuzz/random.js'
import type { Check } from '../../support/check.js'
import { CompanionFixture } from './companion-fixture.js'
import { type Command, commandFromHere } from './lab-kubelet.js'

await commandFromHere()

const random = createRandom(process.env['LAB_DRIVER'] === 'systemd' ? 20260817 : 20261115)
const same = (a: object, b: object): boolean => JSON.stringify(a) === JSON.stringify(b)

interface Cuts {
  before: number
  inside: number
  after: number
}
const count = (cuts: Cuts, now: object, from: object, to: object): void => {
  cuts[same(now, from) ? 'before' : same(now, to) ? 'after' : 'inside']++
}

/** Until the process shows that its work has begun, or has ended. */
async function begun({ child }: Command, look: () => boolean): Promise<void> {
  for (const end = Date.now() + 90_000; !look() && child.exitCode === null; await sleep(1))
    assert.ok(Date.now() < end, 'never began')
}

async function kill(command: Command): Promise<void> {
  command.child.kill('SIGKILL')
  await command.ended
}

interface Times {
  readonly startMs: number
  readonly workMs: number
}

export const checks: readonly Check[] = [
  {
    name: 'kill -9 at random points of applying and of rolling back: the next start ends in the exact state',
    timeoutMs: 1_400_000,
    async run() {
      const machine = await CompanionFixture.start()
      const rounds = Number(process.env['LAB_KILLS'] ?? '25')
      const timed = async (command: Command, began: () => boolean, done: () => boolean): Promise<Times> => {
        const start = Date.now()
        await begun(command, began)
        const startMs = Date.now() - start
        for (const end = Date.now() + 60_000; !done(); await sleep(1))
          assert.ok(Date.now() < end, 'never done')
        return { startMs, workMs: Date.now() - start - startMs }
      }
      // How long both take here: the points are drawn from that.
      const probe = machine.start(...machine.fromKubelet())
      await machine.converges(probe)
      const applied = machine.everything()
      await kill(probe)
      const undo = machine.start('rollback')
      const backTimes = await timed(
        undo,
        () => !same(machine.everything(), applied),
        () => same(machine.everything(), machine.first),
      )
      await undo.ended
      const again = machine.start(...machine.fromKubelet())
      const applyTimes = await timed(
        again,
        () => machine.hasNotes,
        () => same(machine.everything(), applied),
      )
      await kill(again)
      await machine.rollBack()

      /** One in five anywhere in the start, the others once the work shows. */
      const strike = async (command: Command, times: Times, began: () => boolean): Promise<void> => {
        if (random.below(5) === 0) await sleep(random.below(times.startMs))
        else {
          await begun(command, began)
          await sleep(random.below(Math.max(2, times.workMs)))
        }
        await kill(command)
      }
      const applies: Cuts = { before: 0, inside: 0, after: 0 }
      const rollbacks: Cuts = { before: 0, inside: 0, after: 0 }
      for (let round = 0; round < rounds; round++) {
        const companion = machine.start(...machine.fromKubelet())
        await strike(companion, applyTimes, () => machine.hasNotes)
        count(applies, machine.everything(), machine.first, applied)
        const next = machine.start(...machine.fromKubelet())
        await machine.converges(next)
        assert.deepEqual(machine.everything(), applied, `applying killed in round ${round}`)
        await kill(next)
        const back = machine.start('rollback')
        await strike(back, backTimes, () => !same(machine.everything(), applied))
        count(rollbacks, machine.everything(), applied, machine.first)
        await machine.rollBack()
        assert.deepEqual(machine.everything(), machine.first, `rollback killed in round ${round}`)
      }
      await machine.close()
      for (const [what, { inside }] of Object.entries({ applies, rollbacks }))
        assert.ok(inside >= rounds / 5, `only ${inside} of ${rounds} ${what} were cut in the middle`)
      return { rounds, applies, rollbacks, applyTimes, backTimes }
    },
  },
]
