// Loaded into Keelson before its program (NODE_OPTIONS=--import): for how long its event loop was blocked. The first SIGUSR2 begins,
// the second writes the result to $LOOP_FILE. Time in which the main thread was ready to run, but other processes had the
// processors, is a delay and not a block. Of a block, only the thread's own CPU is work; in the rest it waited in the kernel or
// for another thread.
import { openSync, readSync, renameSync, writeFileSync } from 'node:fs'

const EVERY_MS = 10
const buffer = Buffer.alloc(128)
const schedstat = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r')

function look() {
  const length = readSync(schedstat, buffer, 0, buffer.length, 0)
  const [ranNanos, waitedNanos] = buffer.toString('latin1', 0, length).split(' ').map(Number)
  return { atMs: performance.now(), ranMs: ranNanos / 1e6, waitedMs: waitedNanos / 1e6 }
}

let timer
let before
const longest = { delayMs: 0, blockMs: 0, workMs: 0 }

function compare() {
  const now = look()
  const delayMs = now.atMs - before.atMs - EVERY_MS
  longest.delayMs = Math.max(longest.delayMs, delayMs)
  longest.blockMs = Math.max(longest.blockMs, delayMs - (now.waitedMs - before.waitedMs))
  longest.workMs = Math.max(longest.workMs, now.ranMs - before.ranMs)
  before = now
}

process.on('SIGUSR2', () => {
  if (timer === undefined) {
    before = look()
    timer = setInterval(compare, EVERY_MS)
    return
  }
  clearInterval(timer)
  const file = process.env.LOOP_FILE ?? ''
  writeFileSync(`${file}.draft`, JSON.stringify(longest))
  renameSync(`${file}.draft`, file)
})
