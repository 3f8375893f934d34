// A daemon's memory is the node's, and what it does most of the time is wait.
import { setFlagsFromString } from 'node:v8'

interface HeapFlag {
  readonly flag: string
  /** The first line of Node whose V8 knows it: an older one complains on standard error. */
  readonly since: number
}

/**
 * V8 lets the space for new objects grow to 32 MiB while samples come and go, although nearly nothing of them lives long. The
 * launchers of the packages bound it to 4 MiB on Node's command line; here it would be too late for that. Without that it is kept
 * as it starts, at 1 MiB: as little memory, but a fifth more CPU, because more samples outlive a collection. So it is on Node 20;
 * V8 of 24 and later no longer follows this flag, and needs the bound on the command line.
 */
const newSpaceBound = '--max-semi-space-size'
const newSpaceAsItStarts: HeapFlag = { flag: '--semi-space-growth-factor=1', since: 20 }

const flags: readonly HeapFlag[] = [
  // Fewer threads for collecting and compiling, and only what is really hot is optimized: 20 MiB and a tenth of the CPU less.
  { flag: '--efficiency-mode', since: 24 },
  // The heap may grow by half of what is in use before all of it is collected again. V8 lets a process that mostly waits grow by a
  // tenth, which one scrape uses up, so that each ended in such a collection: a tenth of the CPU with scrapes less, 4 MiB more.
  { flag: '--heap-growing-percent=50', since: 20 },
  // Free pages go back to the kernel after a second instead of eight, before the next scrape takes them: 18 MiB less.
  { flag: '--memory-pool-timeout=1', since: 26 },
]

/**
 * Each collection of the whole heap also moves objects together. V8 alone leaves a third of the heap in pages that are half empty:
 * with scrapes 125 MiB, so 110 MiB, for a tenth more CPU. After the start, which it would make dearer.
 */
const afterStart: HeapFlag = { flag: '--memory-saver-mode', since: 24 }
const START_MS = 5_000

/** For commands that run for ever; before they allocate much. Short ones are better off with V8's own way. */
export function keepHeapSmall(startMs = START_MS): void {
  const line = Number.parseInt(process.versions.node, 10)
  const given = [...process.execArgv, process.env['NODE_OPTIONS'] ?? '']
  const isBounded = given.some((words) => words.includes(newSpaceBound))
  for (const { flag, since } of isBounded ? flags : [newSpaceAsItStarts, ...flags])
    if (line >= since) setFlagsFromString(flag)
  if (line >= afterStart.since) setTimeout(() => setFlagsFromString(afterStart.flag), startMs).unref()
}
