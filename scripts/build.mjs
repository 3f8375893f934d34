// `npm run build`: the program into dist/. `--types` (npm pack does it) adds the declarations of the library `keelson/core`.
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildProgram } from './program.mjs'

const started = performance.now()
const out = join(dirname(fileURLToPath(import.meta.url)), '../dist')
await buildProgram({ out, types: process.argv.includes('--types') })
if (process.argv.includes('--verbose'))
  console.log(`built dist/ in ${Math.round(performance.now() - started)} ms`)
