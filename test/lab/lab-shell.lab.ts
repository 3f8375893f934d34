// `keelson lab shell` at a real terminal: the machine's console is as large as the window, also after a resize.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildCommandLine, commandFile, removeCommandLine } from '../support/lab-command.js'
import { requires } from '../support/requirements.js'
import { openWindow } from '../support/tmux-window.js'

beforeAll(buildCommandLine)
afterAll(removeCommandLine)

for (const machine of ['uml', 'qemu'] as const)
  test(`${machine}: a program in the shell hears of each resize, so nothing wraps`, async (ctx) => {
    requires(ctx, { commands: ['tmux'], packages: [machine], root: machine === 'qemu' })
    const window = openWindow(
      [
        'env',
        'NO_COLOR=1',
        process.execPath,
        commandFile(),
        'lab',
        'shell',
        '--machine',
        machine,
        '--timeout',
        '240',
      ],
      80,
      24,
    )
    try {
      await window.shows(/# ?$/m, 200_000)
      const says = 'const s=process.stdout;const t=()=>console.log("size",s.columns,s.rows)'
      window.keys(`node -e '${says};t();s.on("resize",t);setInterval(()=>{},1e3)'`, 'Enter')
      await window.shows(/^size 80 24$/m, 60_000)
      window.resize(101, 31)
      await window.shows(/^size 101 31$/m)
      window.resize(60, 20)
      await window.shows(/^size 60 20$/m)
      window.keys('C-c')
      window.keys('exit', 'Enter')
      await expect.poll(() => window.isOpen, { timeout: 60_000 }).toBe(false)
    } finally {
      window.close()
    }
  })
