// Finds and reads the page of a doctor check: docs/doctor lies in every package beside dist/, and in a working copy.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const pages = 'docs/doctor'

function findPages(start = dirname(fileURLToPath(import.meta.url))): string | undefined {
  for (let at = start; ; at = dirname(at)) {
    if (existsSync(join(at, pages))) return join(at, pages)
    if (dirname(at) === at) return undefined
  }
}

/** `check` is the name of a check. Undefined: this copy of the program came without its pages. */
export function readDoctorPage(check: string): string | undefined {
  const directory = findPages()
  const file = directory === undefined ? undefined : join(directory, `${check}.md`)
  return file !== undefined && /^[a-z0-9-]+$/.test(check) && existsSync(file)
    ? readFileSync(file, 'utf8')
    : undefined
}
