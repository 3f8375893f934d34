// Upstream's metrics that Keelson does not expose, with the reason: the table of docs/metrics.md.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

function readTable(): Readonly<Record<string, string>> {
  const page = readFileSync(join(import.meta.dirname, '../../docs/metrics.md'), 'utf8')
  const [, section = ''] = page.split('## Families left out\n')
  const rows = section.split('\n## ')[0]?.matchAll(/^\| `(\w+)` \| (.+) \|$/gm) ?? []
  return Object.fromEntries([...rows].map(([, name = '', reason = '']) => [name, reason]))
}

export const leftOut = readTable()
