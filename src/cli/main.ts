#!/usr/bin/env node
// The binary: one command line in, one exit status out.
import { processIo } from './io.js'
import { run } from './program.js'

process.exitCode = await run(process.argv.slice(2), processIo())
