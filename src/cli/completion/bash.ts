// The script for bash, which zsh reads as well.
import type { Place, Values } from './tree.js'

/** As a case pattern; the words of a place have a blank before each. */
const patternOf = (path: readonly string[]): string => `"${path.map((word) => ` ${word}`).join('')}"`

const offer = (values: Values): string =>
  values === 'files'
    ? '_keelson_files'
    : values === 'unknown'
      ? 'COMPREPLY=()'
      : `_keelson_words "${values.join(' ')}"`

const steps = (places: readonly Place[]): string =>
  places
    .filter(({ path }) => path.length > 0)
    .map(({ path }) => `      ${patternOf(path)}) path+=" $word" ;;`)
    .join('\n')

const flagCases = (places: readonly Place[]): string =>
  places
    .flatMap(({ path, flags }) =>
      flags.flatMap(({ names, values }) =>
        values === undefined
          ? []
          : [
              `    ${names.map((name) => patternOf([...path, name])).join(' | ')}) ${offer(values)}; return ;;`,
            ],
      ),
    )
    .join('\n')

const placeCases = (places: readonly Place[]): string =>
  places
    .map(({ path, subcommands, flags, values }) => {
      const words = flags.flatMap(({ names }) => names).join(' ')
      const other = subcommands.length > 0 && typeof values === 'string' ? subcommands : values
      return `    ${patternOf(path)}) case "$cur" in -*) _keelson_words "${words}" ;; *) ${offer(other)} ;; esac ;;`
    })
    .join('\n')

export const formatBash = (places: readonly Place[]): string => `_keelson_words() {
  COMPREPLY=($(compgen -W "$1" -- "$cur"))
}
_keelson_files() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen -f -- "$cur"))
}
_keelson() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" path="" word i
  # bash makes three words of --flag=value.
  if [ "$cur" = "=" ]; then cur=""
  elif [ "$prev" = "=" ]; then prev="\${COMP_WORDS[COMP_CWORD-2]}"
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [ "$word" = "--" ]; then _keelson_files; return; fi
    case "$path $word" in
${steps(places)}
    esac
  done
  case "$path $prev" in
${flagCases(places)}
  esac
  case "$path" in
${placeCases(places)}
  esac
}
complete -F _keelson keelson
`

export const formatZsh = (places: readonly Place[]): string => `#compdef keelson
autoload -U +X bashcompinit && bashcompinit
${formatBash(places)}`
