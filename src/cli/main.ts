#!/usr/bin/env node
import { processIo } from './io.js'
// The binary: one command line in, one exit status out.
import { endOnBrokenPipe, processStreams } from './process/broken-pipe.js'
import { run } from './program.js'

endOnBrokenPipe(processStreams())
process.exitCode = await run(process.argv.slice(2), processIo())
