// The CRI server as a service of real systemd with the unit that is shipped, which needs no runtime to start. Only the time is
// shorter, and it also runs within the limits of the companion's unit. It is stopped, its loop is blocked, its thread pool is used up.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { processIo } from '../../../src/cli/io.js'
import { run } from '../../../src/cli/program.js'
import type { Check } from '../../support/check.js'

/** The same bundle is the command line when it is started again with this variable. */
const roleVariable = 'LAB_KEELSON'
if (process.env[roleVariable] !== undefined) {
  const io = processIo()
  process.exit(await run(process.argv.slice(2), io))
}

const program = '/usr/local/bin/keelson'
const script = '/usr/local/lib/keelson/main.mjs'
const unit = 'keelson-cri.service'
const limitS = 16

/** Ways to stand still that a signal starts: a loop without end, and calls that hold every thread of the pool. */
const faults = `
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
process.on('SIGUSR2', () => { for (;;); })
process.on('SIGHUP', () => {
  execFileSync('sh', ['-c', 'rm -f /run/fifo; mkfifo /run/fifo'])
  for (let i = 0; i < 8; i++) fs.open('/run/fifo', 'r', () => {})
})
`

function must(command: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  assert.equal(status, 0, `${command} ${args.join(' ')}\n${stdout}${stderr}`)
  return stdout.trim()
}

const show = (property: string): string => must('systemctl', 'show', '-p', property, '--value', unit)
const journal = (): string =>
  spawnSync('journalctl', ['--no-pager', '-n', '40', '-u', unit], { encoding: 'utf8' }).stdout

async function until(what: string, seconds: number, isSo: () => boolean): Promise<void> {
  for (const end = Date.now() + seconds * 1000; !isSo(); await sleep(500))
    if (Date.now() > end) assert.fail(`${what}: not within ${seconds} s\n${journal()}`)
}

const isUp = (): boolean => show('ActiveState') === 'active' && show('MainPID') !== '0'

/** The unit's settings that narrow what its processes may do. */
const limitsOf = (text: string | undefined): string =>
  (text ?? '')
    .split('\n')
    .filter((line) =>
      /^(CapabilityBoundingSet|RestrictAddressFamilies|NoNewPrivileges|ProtectHome)=/.test(line),
    )
    .join('\n')

async function isStartedAgain(signal: string): Promise<{ seconds: number }> {
  await until('it runs', 60, isUp)
  const before = show('MainPID')
  const restarts = Number(show('NRestarts'))
  const began = Date.now()
  process.kill(Number(before), signal as NodeJS.Signals)
  await until(`another process after ${signal}`, limitS * 3, () => isUp() && show('MainPID') !== before)
  assert.equal(Number(show('NRestarts')), restarts + 1)
  assert.match(journal(), /[Ww]atchdog timeout/)
  return { seconds: (Date.now() - began) / 1000 }
}

export const checks: readonly Check[] = [
  {
    name: 'the shipped unit, within the limits of both units, starts',
    async run() {
      mkdirSync(script.slice(0, script.lastIndexOf('/')), { recursive: true })
      copyFileSync(process.argv[1] ?? '', script)
      writeFileSync('/usr/local/lib/keelson/faults.cjs', faults)
      writeFileSync(
        program,
        `#!/bin/sh\nexport ${roleVariable}=1\nexec ${process.execPath} --require /usr/local/lib/keelson/faults.cjs ${script} "$@"\n`,
      )
      chmodSync(program, 0o755)
      const { LAB_CRI_UNIT: text, LAB_COMPANION_UNIT: companion } = process.env
      assert.match(text ?? '', /^WatchdogSec=120$/m)
      assert.match(companion ?? '', /^WatchdogSec=120$/m)
      assert.match(limitsOf(companion), /CapabilityBoundingSet=/)
      const at = `/etc/systemd/system/${unit}`
      mkdirSync(`${at}.d`, { recursive: true })
      writeFileSync(at, text ?? '')
      writeFileSync(`${at}.d/10-sooner.conf`, `[Service]\nWatchdogSec=${limitS}\n${limitsOf(companion)}\n`)
      must('systemctl', 'daemon-reload')
      must('systemctl', 'start', unit)
      await until('it runs', 60, isUp)
    },
  },
  {
    name: 'a healthy process is left alone for several times the limit',
    timeoutMs: 120_000,
    async run() {
      const before = show('MainPID')
      await sleep(limitS * 3 * 1000)
      assert.equal(show('MainPID'), before, journal())
      assert.equal(show('NRestarts'), '0')
      assert.doesNotMatch(journal(), /watchdog/i)
    },
  },
  {
    name: 'a process that was stopped is started again',
    timeoutMs: 120_000,
    run: () => isStartedAgain('SIGSTOP'),
  },
  {
    name: 'a process whose event loop is blocked is started again',
    timeoutMs: 120_000,
    run: () => isStartedAgain('SIGUSR2'),
  },
  {
    name: 'a process whose thread pool is used up is started again',
    timeoutMs: 120_000,
    run: () => isStartedAgain('SIGHUP'),
  },
]
