// Loaded into a process before its program (NODE_OPTIONS=--import): on SIGUSR2 its heap is collected through the inspector, and
// what is left goes to the file PID.json in $SOAK_DIRECTORY; with $SOAK_SNAPSHOTS, what it consists of goes to a file there.

import { renameSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { getHeapCodeStatistics, writeHeapSnapshot } from 'node:v8'

let samples = 0

process.on('SIGUSR2', async () => {
  const session = new Session()
  session.connect()
  // What is only reachable from what the first one finalizes goes with the second.
  for (let i = 0; i < 2; i++) await session.post('HeapProfiler.collectGarbage')
  session.disconnect()
  const { heapUsed, external, rss } = process.memoryUsage()
  const { code_and_metadata_size, bytecode_and_metadata_size } = getHeapCodeStatistics()
  const code = code_and_metadata_size + bytecode_and_metadata_size
  samples += 1
  const snapshots = process.env.SOAK_SNAPSHOTS
  if (snapshots)
    writeHeapSnapshot(`${snapshots}/${process.pid}-${String(samples).padStart(2, '0')}.heapsnapshot`)
  const file = `${process.env.SOAK_DIRECTORY}/${process.pid}.json`
  writeFileSync(`${file}.draft`, JSON.stringify({ heapUsed, external, code, rss }))
  renameSync(`${file}.draft`, file)
})
