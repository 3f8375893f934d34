// Builds the commander program: stubs for every command, the requested one loaded in full, and the single
// place where an error becomes a message and an exit status.
import { Command, CommanderError } from 'commander'
import { asKeelsonError } from '../core/errors.js'
import { commands } from './commands.js'
import { exitStatus } from './exit-status.js'
import { helpLayout } from './help-layout.js'
import type { Io } from './io.js'
import { systemError } from './system-error.js'
import { version } from './version.js'

const epilogue = `
Try:
  keelson explain -f examples/pods.yaml --feature-gates MemoryQoS=true
                                     the cgroup values of these pods, and why
  keelson lab run -- cat /sys/fs/cgroup/cgroup.controllers
                                     one command in a real kernel with cgroup v2 (root)
  keelson COMMAND --help             options and examples of one command

In a clone, use \`npx keelson COMMAND ...\`; \`npm start\` is \`keelson up\`.

Errors have a code such as [config.invalid]; docs/errors.md explains each one.`

export async function createProgram(io: Io, wanted: readonly string[]): Promise<Command> {
  const program = new Command('keelson')
    .description('A Kubernetes node stack: the container runtime is the single source of truth for the node.')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help for a command')
    .addHelpText('after', epilogue)
    .showSuggestionAfterError()
  // The kubelet answers --version itself, as the release that its profile names.
  if (wanted[0] !== 'kubelet') program.version(version, '-V, --version', 'print the version')
  const whole = (): Promise<Command> =>
    createProgram(
      io,
      commands.map((c) => c.name),
    )
  for (const entry of commands) {
    if (wanted.includes(entry.name)) {
      const module = await entry.load()
      program.addCommand(module.create(io, whole).summary(entry.summary))
    } else program.command(entry.name).summary(entry.summary).description(entry.summary)
  }
  for (const command of [program, ...descendants(program)]) {
    command.exitOverride().configureOutput({
      writeOut: (s) => io.stdout.write(s),
      writeErr: (s) => io.stderr.write(s),
      outputError: (s, write) => write(usageError(s)),
    })
    command.configureHelp(helpLayout)
  }
  return program
}

/** Commander's own complaints in the form of every other error. */
const usageError = (text: string): string =>
  `keelson: ${text
    .replace(/^error: /, '')
    .trim()
    .replaceAll('\n', ' ')
    .replace(/\.$/, '')}; see --help [usage.invalid]\n`

export function descendants(command: Command): Command[] {
  return command.commands.flatMap((c) => [c, ...descendants(c)])
}

/** Runs one command line and returns the exit status; never throws. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  try {
    const program = await createProgram(io, argv.slice(0, 2))
    if (argv.length === 0) {
      program.outputHelp()
      return 0
    }
    await program.parseAsync(argv, { from: 'user' })
    return io.exitCode
  } catch (e) {
    if (e instanceof CommanderError) return e.exitCode === 0 ? 0 : 2
    const error = systemError(e) ?? asKeelsonError(e)
    io.stderr.write(`keelson: ${error.message} [${error.code}]\n`)
    if (error.code === 'internal.unexpected' && error.cause instanceof Error)
      io.stderr.write(
        `${error.cause.stack ?? ''}\nThis is a bug in keelson; please report it with the lines above.\n`,
      )
    return exitStatus(error.code)
  }
}
