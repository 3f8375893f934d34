#!/usr/bin/env node
// The binary: one command line in, one exit status out.
import { endOnBrokenPipe, processStreams } from './broken-pipe.js'
import { processIo } from './io.js'
import { run } from './program.js'

endOnBrokenPipe(processStreams())
process.exitCode = await run(process.argv.slice(2), processIo())
