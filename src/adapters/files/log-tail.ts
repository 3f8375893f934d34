// Reads the end of a log file, however large the file is.
import { errnoOf } from '../../core/cgroup/errors.js'
import { keelsonError, messageOf } from '../../core/errors.js'
import type { LogTail } from '../../ports/log-tail.js'
import { openRegular } from './open-regular.js'

/** `POD/CONTAINER/0.log`: what a container with the logs of the host can replace. */
const plainParents = 2

export const createLogTail = (): LogTail => ({
  async read(path, maxBytes) {
    try {
      const file = await openRegular(path, { plainParents })
      try {
        const stat = await file.stat()
        const start = Math.max(0, stat.size - maxBytes)
        const buffer = Buffer.alloc(Math.min(stat.size, maxBytes))
        const { bytesRead } = await file.read(buffer, 0, buffer.length, start)
        const text = buffer.toString('utf8', 0, bytesRead)
        return start === 0 ? text : text.slice(text.indexOf('\n') + 1)
      } finally {
        await file.close()
      }
    } catch (e) {
      if (errnoOf(e) === 'ENOENT') return undefined
      const reason = messageOf(e)
      throw keelsonError(
        'input.unreadable',
        `read log file ${path}: ${reason}; check its permissions`,
        { path },
        e,
      )
    }
  },
})
