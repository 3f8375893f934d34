// Loaded into a process before its program (NODE_OPTIONS=--import): on SIGUSR2 its heap is collected through the inspector, and
// what is left goes to the file PID.json in $SOAK_DIRECTORY.

import { renameSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'

process.on('SIGUSR2', async () => {
  const session = new Session()
  session.connect()
  // What is only reachable from what the first one finalizes goes with the second.
  for (let i = 0; i < 2; i++) await session.post('HeapProfiler.collectGarbage')
  session.disconnect()
  const { heapUsed, external, rss } = process.memoryUsage()
  const file = `${process.env.SOAK_DIRECTORY}/${process.pid}.json`
  writeFileSync(`${file}.draft`, JSON.stringify({ heapUsed, external, rss }))
  renameSync(`${file}.draft`, file)
})
