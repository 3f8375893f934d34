// Loaded into Keelson before its program (NODE_OPTIONS=--import): for how long its event loop was blocked. The first SIGUSR2 begins,
// the second writes the result to $LOOP_FILE. Time in which other processes had the processors is a delay and not a block: the main
// thread was ready to run, or it slept because it needs another thread of this process (garbage collection, file calls) that was.
import { openSync, readdirSync, readSync, renameSync, writeFileSync } from 'node:fs'

const EVERY_MS = 10
const buffer = Buffer.alloc(128)
const open = (thread) => openSync(`/proc/self/task/${thread}/schedstat`, 'r')
const main = open(process.pid)
/** The pools of threads exist when the watch begins. */
let others = []

function read(schedstat) {
  const length = readSync(schedstat, buffer, 0, buffer.length, 0)
  const [ran, waited] = buffer.toString('latin1', 0, length).split(' ')
  return { ranMs: Number(ran) / 1e6, waitedMs: Number(waited) / 1e6 }
}

const look = () => ({ atMs: performance.now(), main: read(main), others: others.map(read) })

let timer
let before
const longest = { delayMs: 0, blockMs: 0 }

function compare() {
  const now = look()
  const elapsedMs = now.atMs - before.atMs
  const waitedMs = now.main.waitedMs - before.main.waitedMs
  const sleptMs = Math.max(0, elapsedMs - waitedMs - (now.main.ranMs - before.main.ranMs))
  const othersMs = Math.max(0, ...now.others.map((one, i) => one.waitedMs - before.others[i].waitedMs))
  longest.delayMs = Math.max(longest.delayMs, elapsedMs - EVERY_MS)
  longest.blockMs = Math.max(longest.blockMs, elapsedMs - EVERY_MS - waitedMs - Math.min(sleptMs, othersMs))
  before = now
}

process.on('SIGUSR2', () => {
  if (timer === undefined) {
    others = readdirSync('/proc/self/task')
      .filter((thread) => thread !== String(process.pid))
      .map(open)
    before = look()
    timer = setInterval(compare, EVERY_MS)
    return
  }
  clearInterval(timer)
  const file = process.env.LOOP_FILE ?? ''
  writeFileSync(`${file}.draft`, JSON.stringify(longest))
  renameSync(`${file}.draft`, file)
})
