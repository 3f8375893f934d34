// As src/cli/main.ts, with compiled code kept in the directory.
import module from 'node:module'
import { join } from 'node:path'

module.enableCompileCache?.(join(process.argv[2] ?? '', 'compiled'))
await import(join(process.argv[2] ?? '', 'least-kubelet.mjs'))
module.flushCompileCache?.()
process.exit(0)
