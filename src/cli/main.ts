#!/usr/bin/env node
// The binary: one command line in, one exit status out.
import { useCompileCache } from './process/compile-cache.js'

const argv = process.argv.slice(2)
useCompileCache(argv[0])
// Only now: what is imported above is compiled before the cache is there.
const { runProgram } = await import('./run-program.js')
process.exitCode = await runProgram(argv)
