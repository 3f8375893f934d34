import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommand } from '../../test/support/memory-io.js'
import { bedNames, bootSeconds } from './machine.js'

const page = readFileSync(join(import.meta.dirname, '../../docs/lab.md'), 'utf8')

for (const command of ['run', 'shell'])
  for (const bed of bedNames)
    test(`docs/lab.md and lab ${command} --help say the same time to boot ${bed}`, async () => {
      const row = page.split('\n').find((line) => line.startsWith(`| \`${bed}\``)) ?? ''
      expect(/\| (\d+) s \|/.exec(row)?.[1]).toBe(String(bootSeconds[bed]))
      const { stdout } = await runCommand(['lab', command, '--help'])
      const line = stdout.split('\n').find((l) => l.trimStart().startsWith(`${bed} `)) ?? ''
      expect(/; (\d+) s\b/.exec(line)?.[1]).toBe(String(bootSeconds[bed]))
    })
