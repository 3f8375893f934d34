// Finds and reads the dashboard that scripts/build.mjs made: beside the bundle of the command, or below dist/ of a working
// copy.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { PageFile, PageFiles } from '../../ports/page-files.js'

const types: Readonly<Record<string, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'app.js': 'text/javascript; charset=utf-8',
  'app.css': 'text/css; charset=utf-8',
  'icon.svg': 'image/svg+xml',
}

/** `dist/cli/chunks/x.js` -> `dist/dashboard`; `src/adapters/files/x.ts` -> `dist/dashboard`. */
function findPage(start = dirname(fileURLToPath(import.meta.url))): string | undefined {
  for (let at = start; ; at = dirname(at)) {
    for (const place of ['dashboard', 'dist/dashboard'])
      if (existsSync(join(at, place, 'index.html'))) return join(at, place)
    if (dirname(at) === at) return undefined
  }
}

function readPageFile(path: string, type: string): PageFile {
  const body = readFileSync(path)
  return {
    type,
    body,
    gzip: readFileSync(`${path}.gz`),
    tag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
  }
}

/** Undefined: it was not built. */
export function readPage(directory = findPage()): PageFiles | undefined {
  if (directory === undefined) return undefined
  return new Map(
    Object.entries(types).map(([name, type]) => [name, readPageFile(join(directory, name), type)]),
  )
}
