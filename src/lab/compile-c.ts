// C to a file, by whatever `cc` is: gcc where there is one, else Debian's tcc, which is 300 kB.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keelsonError } from '../core/errors.js'
import { findCommand } from './packages.js'

/** The source may need no header and no C library of its own: none has to be installed. */
export function compileC(source: string, flags: readonly string[], command = 'cc'): Buffer {
  const compiler = findCommand(command)
  if (compiler === undefined)
    throw keelsonError(
      'lab.missing',
      'small programs of the lab are compiled from C, and there is no cc; run: apt-get install tcc',
    )
  const dir = mkdtempSync(join(tmpdir(), 'keelson-cc-'))
  try {
    const [text, program] = [join(dir, 'program.c'), join(dir, 'program')]
    writeFileSync(text, source)
    execFileSync(compiler, ['-O1', ...flags, '-nostdlib', '-o', program, text], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    return readFileSync(program)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
