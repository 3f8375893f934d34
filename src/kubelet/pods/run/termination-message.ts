// What a container says about its own end: the file that it may write, or the tail of its log where it failed and the
// manifest asks for that.
import { parseCriLine, writtenText } from '../../../core/cri/log-line.js'
import { rethrowBug } from '../../../core/errors.js'
import type { Container } from '../../../cri-api/api.js'
import type { PodHost } from '../../../ports/pod-host.js'
import { annotations, labels, type PodPaths, terminationLog } from '../to-cri/names.js'

/** As upstream: no pod's status grows beyond these. */
const maxMessage = 4096
const maxLogTail = 2048
const maxLogLines = 80

export async function readTerminationMessage(
  container: Container,
  failed: boolean,
  logPath: string,
  paths: PodPaths,
  host: Pick<PodHost, 'readAt'>,
): Promise<string> {
  const uid = container.labels[labels.podUid] ?? ''
  const name = container.labels[labels.containerName] ?? ''
  const file = terminationLog(paths, uid, name, container.metadata?.attempt ?? 0)
  const fallsBack = container.annotations[annotations.messagePolicy] === 'FallbackToLogsOnError'
  try {
    const said = await host.readAt(file, 0, maxMessage)
    const message = new TextDecoder().decode(said?.bytes ?? new Uint8Array())
    return message !== '' || !failed || !fallsBack ? message : await readLogTail(logPath, host)
  } catch (e) {
    const error = rethrowBug(e)
    // A container that replaces its files must not keep the status of every pod from being read.
    return `Error on reading the termination message: ${error.message}`
  }
}

async function readLogTail(path: string, host: Pick<PodHost, 'readAt'>): Promise<string> {
  const end = await host.readAt(path, 0, 0)
  if (end === undefined) return ''
  const from = Math.max(0, end.size - 4 * maxLogTail)
  const piece = await host.readAt(path, from, end.size - from)
  const lines = new TextDecoder().decode(piece?.bytes ?? new Uint8Array()).split('\n')
  return lines
    .slice(from === 0 ? 0 : 1)
    .flatMap((line) => {
      const part = parseCriLine(line)
      return part === undefined ? [] : [writtenText(part)]
    })
    .slice(-maxLogLines)
    .join('')
    .slice(-maxLogTail)
}
