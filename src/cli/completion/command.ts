// `keelson completion SHELL`: a script made from the real command tree, so that it cannot go stale.
import { Argument, Command } from 'commander'
import type { Io } from '../io.js'
import { formatBash, formatZsh } from './bash.js'
import { formatFish } from './fish.js'
import { placesOf } from './tree.js'

const scripts = { bash: formatBash, zsh: formatZsh, fish: formatFish } as const

export const create = (io: Io, whole: () => Promise<Command>): Command =>
  new Command('completion')
    .description('Print a completion script.\n\n  source <(keelson completion bash)')
    .addArgument(new Argument('<shell>', 'the shell to complete for').choices(Object.keys(scripts)))
    .action(async (shell: keyof typeof scripts) => {
      io.stdout.write(scripts[shell](placesOf(await whole())))
    })
