// How long the main thread of a process computes without pause, seen from outside: its processor time while it never went to sleep.
// A delay of the event loop may also be the wait for a processor; this is not. An upper bound: a loop that always finds more to do
// does not sleep either, and a stretch is counted up to the next look after its end.
import { closeSync, openSync, readSync } from 'node:fs'

const LOOK_MS = 5
const buffer = Buffer.alloc(4_096)

function openThread(pid: number): {
  look(): { readonly ranMs: number; readonly sleeps: string }
  close(): void
} {
  const files = ['schedstat', 'status'].map((name) => openSync(`/proc/${pid}/task/${pid}/${name}`, 'r'))
  const read = (fd: number | undefined): string =>
    fd === undefined ? '' : buffer.toString('latin1', 0, readSync(fd, buffer, 0, buffer.length, 0))
  return {
    look: () => ({
      ranMs: Number(read(files[0]).split(' ')[0]) / 1e6,
      sleeps: /^voluntary_ctxt_switches:\s*(\d+)/m.exec(read(files[1]))?.[1] ?? '',
    }),
    close() {
      for (const fd of files) closeSync(fd)
    },
  }
}

/** The result ends the watch and is the longest stretch, in milliseconds. */
export function watchStretches(pid: number): () => number {
  const thread = openThread(pid)
  let before = thread.look()
  let stretch = 0
  let longest = 0
  const timer = setInterval(() => {
    const now = thread.look()
    stretch += now.ranMs - before.ranMs
    longest = Math.max(longest, stretch)
    if (now.sleeps !== before.sleeps) stretch = 0
    before = now
  }, LOOK_MS)
  return () => {
    clearInterval(timer)
    thread.close()
    return longest
  }
}
