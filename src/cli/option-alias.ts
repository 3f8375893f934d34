// Old names of options: they keep working, set the same value and are left out of help and completion.
import { type Command, Option } from 'commander'

export class OptionAlias extends Option {
  constructor(
    flags: string,
    readonly target: Option,
  ) {
    super(flags, `the old name of ${target.long ?? target.flags}`)
    if (target.parseArg !== undefined) this.parseArg = target.parseArg
    if (target.argChoices !== undefined) this.argChoices = target.argChoices
    this.hidden = true
  }

  override attributeName(): string {
    return this.target.attributeName()
  }
}

/** `alias('--upstream', '--runtime-endpoint')`: the second is the name that help shows. */
export function addAlias(command: Command, old: string, name: string): Command {
  const target = command.options.find((option) => option.long === name)
  if (target === undefined) throw new Error(`${command.name()} has no option ${name}`)
  const value = /\s[<[].*$/.exec(target.flags)?.[0] ?? ''
  return command.addOption(new OptionAlias(`${old}${value}`, target))
}
