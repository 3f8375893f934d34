import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommand } from '../../test/support/memory-io.js'
import { bootSeconds, machineNames } from './machine.js'

const page = readFileSync(join(import.meta.dirname, '../../docs/lab.md'), 'utf8')

for (const command of ['run', 'shell'])
  for (const machine of machineNames)
    test(`docs/lab.md and lab ${command} --help say the same time to boot ${machine}`, async () => {
      const row = page.split('\n').find((line) => line.startsWith(`| \`${machine}\``)) ?? ''
      expect(/\| (\d+) s \|/.exec(row)?.[1]).toBe(String(bootSeconds[machine]))
      const { stdout } = await runCommand(['lab', command, '--help'])
      const line = stdout.split('\n').find((l) => l.trimStart().startsWith(`${machine} `)) ?? ''
      expect(/; (\d+) s\b/.exec(line)?.[1]).toBe(String(bootSeconds[machine]))
    })
