// What packages have beside the program and take from the definitions of the commands: manual pages and completion scripts.
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { commands } from '../../src/cli/commands.js'
import type { Io } from '../../src/cli/io.js'
import { createProgram, run } from '../../src/cli/program.js'
import { manPages } from './man-page.js'
import type { TreeFile } from './program-files.js'
import type { Release } from './release.js'

async function printed(...argv: readonly string[]): Promise<string> {
  let text = ''
  const io: Io = {
    stdout: { write: (part: string) => (text += part), columns: 80 },
    stderr: { write: (part: string) => (text += part) },
    stdin: Readable.from([]),
    env: {},
    exitCode: 0,
  }
  const status = await run(argv, io)
  if (status !== 0) throw new Error(`keelson ${argv.join(' ')} ended with ${status}: ${text}`)
  return text
}

export async function manFiles({ version, date }: Release): Promise<TreeFile[]> {
  const io: Io = {
    stdout: { write: () => true },
    stderr: { write: () => true },
    stdin: Readable.from([]),
    env: {},
    exitCode: 0,
  }
  const program = await createProgram(
    io,
    commands.map((c) => c.name),
  )
  const ownHelp = { 'keelson-kubelet': await printed('kubelet', '--help') }
  return manPages(program, { version, date, ownHelp }).map(({ name, text }) => ({
    path: `man/man1/${name}.1.gz`,
    data: gzipSync(text, { level: 9 }),
    mode: 0o644,
  }))
}

const places = {
  bash: 'bash-completion/completions/keelson',
  zsh: 'zsh/vendor-completions/_keelson',
  fish: 'fish/vendor_completions.d/keelson.fish',
} as const

export const completionFiles = (): Promise<TreeFile[]> =>
  Promise.all(
    Object.entries(places).map(async ([shell, path]) => ({
      path,
      data: Buffer.from(await printed('completion', shell)),
      mode: 0o644,
    })),
  )
