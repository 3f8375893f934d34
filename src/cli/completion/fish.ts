// The script for fish: one line for each word, with the command that it belongs to as its condition.
import type { Flag, Place, Values } from './tree.js'

const valueWords = (values: Values | undefined): string =>
  values === undefined
    ? ''
    : values === 'files'
      ? ' -r -F'
      : values === 'unknown'
        ? ' -x'
        : ` -x -a '${values.join(' ')}'`

const flagLine = (when: string, { names, values }: Flag): string =>
  `complete -c keelson ${when} ${names
    .map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`))
    .join(' ')}${valueWords(values)}`

function linesOf({ path, subcommands, flags, values }: Place): string[] {
  const when = `-n '__keelson_at "${path.join(' ')}"'`
  const words = [...subcommands, ...(typeof values === 'string' ? [] : values)]
  return [
    ...(words.length === 0 ? [] : [`complete -c keelson ${when} -a '${words.join(' ')}'`]),
    ...(values === 'files' ? [`complete -c keelson ${when} -F`] : []),
    ...flags.map((flag) => flagLine(when, flag)),
  ]
}

export const formatFish = (places: readonly Place[]): string => `function __keelson_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    switch (string trim "$at $word")
      case ${places.flatMap(({ path }) => (path.length === 0 ? [] : [`'${path.join(' ')}'`])).join(' ')}
        set at (string trim "$at $word")
    end
  end
  test "$at" = "$argv[1]"
end
complete -c keelson -f
${places.flatMap(linesOf).join('\n')}
`
