// The column STATUS in colour: how bad a word is, for eyes that skim. The word itself says it as well.
import type { PodJson } from '../../core/pod/document.js'
import { podRow } from '../../core/pod/printing.js'
import type { Colour, Paint } from '../colour.js'

const good = new Set(['Running', 'Completed', 'Succeeded'])
const onTheWay = /^(Pending|ContainerCreating|PodInitializing|Terminating|Init:\d+\/\d+)$/

const colourOf = (status: string): Colour =>
  good.has(status) ? 'green' : onTheWay.test(status) ? 'yellow' : 'red'

/** Painted after the columns are laid out, so that the codes do not count as width. */
export function paintStatuses(table: string, pods: readonly PodJson[], paint: Paint): string {
  const statuses = [...new Set(pods.map((pod) => podRow(pod, 0n).status))]
  return table
    .split('\n')
    .map((line) => {
      // Names are in lower case and statuses are not, so that the first match is the column.
      const status = statuses.find((word) => `${line} `.includes(` ${word} `))
      return status === undefined ? line : line.replace(status, paint(colourOf(status), status))
    })
    .join('\n')
}
