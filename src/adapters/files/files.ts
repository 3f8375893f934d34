// The Files port on the machine's file system.
import { rm } from 'node:fs/promises'
import { keelsonError } from '../../core/errors.js'
import type { Files } from '../../ports/files.js'
import { listFiles } from './list.js'
import { readBounded } from './read.js'
import { replaceFile } from './replace.js'
import { watchDirectory } from './watch.js'

export const createFiles = (): Files => ({
  read: readBounded,
  replace: replaceFile,
  remove: (path) =>
    rm(path, { force: true }).catch((error: unknown) => {
      throw keelsonError(
        'file.write-failed',
        `remove ${path}: check the permissions of its directory`,
        { path },
        error,
      )
    }),
  list: listFiles,
  watch: watchDirectory,
})
