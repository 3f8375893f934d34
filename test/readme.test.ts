// The README must be true: its output is real, its links lead somewhere, and its map names every command.
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { commands } from '../src/cli/commands.js'
import { runCommand } from './support/memory-io.js'

const root = resolve(import.meta.dirname, '..')
const page = readFileSync(resolve(root, 'README.md'), 'utf8')

test('the output that the README shows is what the command prints', async () => {
  const command = /\$ npx keelson (explain .*)/.exec(page)?.[1]?.split(' ')
  const block = /\$ npx keelson explain .*\n\n```\n([\s\S]*?)```/.exec(page)?.[1]?.trimEnd().split('\n')
  const cwd = process.cwd()
  process.chdir(root)
  try {
    const ran = await runCommand(command ?? [])
    expect(ran.status, ran.stderr).toBe(0)
    const printed = ran.stdout.split('\n')
    for (const line of (block ?? []).filter((l) => l !== '...'))
      expect(
        printed.some((p) => p.startsWith(line)),
        `the README shows a line that is not printed: ${line}`,
      ).toBe(true)
    expect(block?.length).toBeGreaterThan(4)
    expect(block?.length, 'a longer block hides the point').toBeLessThanOrEqual(8)
  } finally {
    process.chdir(cwd)
  }
})

test('every link leads to a file', () => {
  const links = [...page.matchAll(/\]\(([^)#]+)\)/g)].map((m) => m[1] ?? '')
  expect(links.length).toBeGreaterThan(5)
  for (const link of links) expect(existsSync(resolve(root, link)), link).toBe(true)
})

test('the map names every command and no other', () => {
  const named = [...page.matchAll(/^\| `keelson ([a-z]+)`/gm)].map((m) => m[1])
  expect(new Set(named)).toEqual(new Set(commands.map((c) => c.name).filter((n) => n !== 'completion')))
})

test('README and the page of the kubelet warn, before the commands, what it does not carry out in a cluster', () => {
  const kubelet = readFileSync(resolve(root, 'docs/kubelet.md'), 'utf8')
  const service = kubelet.slice(kubelet.indexOf('## As a service'))
  const commandsAt = service.indexOf('systemctl daemon-reload')
  expect(commandsAt).toBeGreaterThan(0)
  expect(service.slice(0, commandsAt)).toContain('PodFeatureUnsupported')
  for (const text of [page, kubelet]) expect(text).toMatch(/does not carry out yet/)
})
