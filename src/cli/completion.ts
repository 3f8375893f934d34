// `keelson completion SHELL`: a script made from the real command tree, so that it cannot go stale.
import { Argument, Command } from 'commander'
import type { Io } from './io.js'

interface Words {
  readonly path: string
  readonly words: readonly string[]
}

function wordsOf(command: Command, path: readonly string[] = []): Words[] {
  const names = command.commands.map((c) => c.name()).filter((n) => n !== 'help')
  const shown = command.options.filter((o) => !o.hidden)
  const flags = shown.flatMap((o) => [o.short, o.long]).filter((f): f is string => f !== undefined)
  const here = { path: path.join(' '), words: [...names, ...flags, '--help'] }
  return [here, ...command.commands.flatMap((c) => wordsOf(c, [...path, c.name()]))]
}

const bash = (all: readonly Words[]): string => `_keelson() {
  local path="" w i
  for ((i = 1; i < COMP_CWORD; i++)); do
    w=\${COMP_WORDS[i]}
    case "$path $w" in
${all
  .filter((a) => a.path !== '')
  .map(
    (a) =>
      `      "${` ${a.path}`.replace(/ ([^ ]+)$/, '')} ${a.path.split(' ').at(-1)}") path="${' '}${a.path}" ;;`,
  )
  .join('\n')}
    esac
  done
  case "$path" in
${all.map((a) => `    "${a.path === '' ? '' : ` ${a.path}`}") COMPREPLY=($(compgen -W "${a.words.join(' ')}" -- "\${COMP_WORDS[COMP_CWORD]}")) ;;`).join('\n')}
  esac
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o filenames -F _keelson keelson
`

const zsh = (all: readonly Words[]): string => `#compdef keelson
autoload -U +X bashcompinit && bashcompinit
${bash(all)}`

const fish = (all: readonly Words[]): string =>
  `${all
    .flatMap((a) =>
      a.words.map((w) => {
        const when =
          a.path === '' ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${a.path.split(' ').at(-1)}`
        const what = w.startsWith('--')
          ? `-l ${w.slice(2)}`
          : w.startsWith('-')
            ? `-s ${w.slice(1)}`
            : `-f -a ${w}`
        return `complete -c keelson -n '${when}' ${what}`
      }),
    )
    .join('\n')}\n`

const scripts = { bash, zsh, fish } as const

export const create = (io: Io, whole: () => Promise<Command>): Command =>
  new Command('completion')
    .description('Print a completion script.\n\n  source <(keelson completion bash)')
    .addArgument(new Argument('<shell>', 'the shell to complete for').choices(Object.keys(scripts)))
    .action(async (shell: keyof typeof scripts) => {
      io.stdout.write(scripts[shell](wordsOf(await whole())))
    })
